// The digest of the kernels' sources: code changes it, comments and line breaks do not.
#include "gpu/jit/sources.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("stripped: no comments, single spaces, literals as they are") {
  CHECK(jit::stripped("").empty());
  CHECK(jit::stripped("// only prose").empty());
  CHECK(jit::stripped("  u32 a;  // a row\n\n\tu32  b;\n") == "u32 a; u32 b;");
  CHECK(jit::stripped("a / b") == "a / b");
  CHECK(jit::stripped("f(\"//  %0\\\"  ;\", x)  // y") == "f(\"//  %0\\\"  ;\", x)");
  CHECK(jit::stripped("a\"open  end") == "a\"open  end");
}

TEST_CASE("the digest of sources ignores comments and white space, and nothing else") {
  const auto digest = [](const char* name, const char* text) {
    const jit::Header header{name, text};
    return jit::digest_of(std::span(&header, 1));
  };
  CHECK(digest("a.hpp", "u32 a;") == digest("a.hpp", "// one\n// two\nu32\n  a;\n"));
  CHECK(digest("a.hpp", "u32 a;") != digest("b.hpp", "u32 a;"));
  CHECK(digest("a.hpp", "u32 a;") != digest("a.hpp", "u32 b;"));
  CHECK(digest("a.hpp", "f(\" \")") != digest("a.hpp", "f(\"  \")"));
  CHECK(jit::digest_of({}) == 0xcbf29ce484222325u);
}

TEST_CASE(
    "the embedded sources: every header a kernel includes, none empty, their digest of the stripped text") {
  const auto all = jit::sources();
  const auto has = [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const jit::Header& h) { return name == h.name; });
  };
  for (const char* name : {"emulator/layout/fragment.hpp", "gpu/ptx/wgmma.hpp", "gpu/kernels/machine.hpp",
                           "gpu/capture/records.hpp", "gpu/capture/device/compare.hpp"}) {
    INFO(name);
    CHECK(has(name));
  }
  std::vector<std::string> bare;
  std::vector<jit::Header> again;
  for (const jit::Header& header : all) bare.push_back(jit::stripped(header.text));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK_FALSE(bare[i].empty());
    again.push_back({all[i].name, bare[i].c_str()});
  }
  CHECK(jit::digest_of(again) == jit::sources_digest());
}
