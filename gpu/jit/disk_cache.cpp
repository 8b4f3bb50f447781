#include "gpu/jit/disk_cache.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "emulator/files/atomic_file.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/fnv1a.hpp"
#include "gpu/jit/sources.hpp"

namespace fp8twin::jit {
namespace {

constexpr std::string_view magic = "fp8twin cubin 1\n";

std::uint64_t fnv1a(std::string_view bytes) {
  Fnv1a hash;
  hash.add(bytes);
  return hash.value();
}

void append_number(std::string& text, std::uint64_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  text.append(bytes, sizeof number);
}

/// Takes pieces off the front of a file's bytes; asked for more than there is, it gives nothing from then on.
struct Reader {
  std::string_view rest;
  bool failed = false;

  std::string_view take(std::uint64_t size) {
    if (failed || size > rest.size()) {
      failed = true;
      return {};
    }
    const std::string_view piece = rest.substr(0, size);
    rest.remove_prefix(size);
    return piece;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view piece = take(sizeof value);
    if (!failed) std::memcpy(&value, piece.data(), sizeof value);
    return value;
  }
};

std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  return text.str();
}

std::string identity_of(const Source& source) {
  return fmt::format("NVRTC {}\noptions {}\nheaders {:016x}\nwgmma {}\n{}", nvrtc_version(),
                     fmt::join(compile_options(), " "), sources_digest(), fmt::join(source.wgmma_shapes, " "),
                     source.text);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string cache_folder() {
  if (const std::string own = variable("FP8TWIN_CACHE_DIR"); !own.empty()) return own;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/fp8twin";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/fp8twin";
  return "";
}

std::string DiskCache::path(const std::string& identity) const {
  return fmt::format("{}/{:016x}.cubin", folder_, fnv1a(identity));
}

std::optional<Compiled> DiskCache::load(const std::string& identity) const {
  if (folder_.empty()) return std::nullopt;
  const std::string text = file_text(path(identity));
  Reader reader{text};
  if (reader.take(magic.size()) != magic) return std::nullopt;
  const std::uint64_t identity_size = reader.number(), log_size = reader.number(),
                      cubin_size = reader.number();
  const std::string_view found = reader.take(identity_size), log = reader.take(log_size),
                         cubin = reader.take(cubin_size);
  const std::uint64_t checksum = reader.number();
  if (reader.failed || !reader.rest.empty() || found != identity) return std::nullopt;
  if (checksum != fnv1a(std::string_view(text).substr(0, text.size() - sizeof checksum))) return std::nullopt;
  Compiled compiled;
  compiled.cubin.assign(cubin.begin(), cubin.end());
  compiled.log = log;
  compiled.resources = parse_resources(compiled.log);
  return compiled;
}

bool DiskCache::store(const std::string& identity, const Compiled& compiled) const {
  if (folder_.empty()) return false;
  std::error_code ignored;  // the file says it again
  std::filesystem::create_directories(folder_, ignored);
  std::string text(magic);
  append_number(text, identity.size());
  append_number(text, compiled.log.size());
  append_number(text, compiled.cubin.size());
  text += identity;
  text += compiled.log;
  text.append(compiled.cubin.begin(), compiled.cubin.end());
  append_number(text, fnv1a(text));
  try {
    AtomicFile file(path(identity));
    file.write(std::as_bytes(std::span(text)));
    file.commit();
    return true;
  } catch (const Error&) {
    return false;
  }
}

Compiled compile_cached(const Source& source) {
  const DiskCache cache(cache_folder());
  const std::string identity = identity_of(source);
  if (std::optional<Compiled> known = cache.load(identity)) return *std::move(known);
  Compiled compiled = compile(source);
  cache.store(identity, compiled);
  return compiled;
}

}  // namespace fp8twin::jit
