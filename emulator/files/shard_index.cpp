#include "emulator/files/shard_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "emulator/files/mapped_file.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/files/strict_json.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

using Json = nlohmann::json;
constexpr int max_index_depth = 16;  // "metadata" is free-form

void check_shard_name(const std::string& index, const std::string& tensor, const std::string& shard) {
  const std::filesystem::path path(shard);
  const bool climbs = std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (climbs || path.is_absolute() || !shard.ends_with(".safetensors") ||
      shard.find('\0') != std::string::npos) {
    throw Error(fmt::format(
        "{}: tensor {} is said to be in {}; a .safetensors file at or below the index's own folder is "
        "needed",
        index, quote(tensor), quote(shard)));
  }
}

std::map<std::string, std::string, std::less<>> read_index(const std::string& path) {
  const MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const Json json = parse_strict_json(text, path + ": the index", max_index_depth);
  const auto weight_map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || weight_map == json.end() || !weight_map->is_object()) {
    throw Error(fmt::format("{}: is no checkpoint index: an object \"weight_map\" is needed", path));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::map<std::string, std::string, std::less<>> shard_of;
  for (const auto& [tensor, shard] : weight_map->items()) {
    if (!shard.is_string())
      throw Error(fmt::format("{}: the shard of tensor {} is not a string", path, quote(tensor)));
    check_shard_name(path, tensor, shard.get_ref<const std::string&>());
    shard_of.emplace(tensor, (folder / shard.get_ref<const std::string&>()).string());
  }
  return shard_of;
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path) : path_(path), sharded_(path.ends_with(".json")) {
  if (sharded_) {
    shard_of_ = read_index(path);
  } else {
    files_.emplace(path, read_tensor_file(path));
  }
}

const Tensor* Checkpoint::find(std::string_view name) {
  if (!sharded_) return files_.at(path_).find(name);
  const auto shard = shard_of_.find(name);
  if (shard == shard_of_.end()) return nullptr;
  auto opened = files_.find(shard->second);
  if (opened == files_.end()) opened = files_.emplace(shard->second, read_tensor_file(shard->second)).first;
  return &opened->second.at(name);  // an index that names the wrong shard is an error, not an absent tensor
}

const Tensor& Checkpoint::at(std::string_view name) {
  if (const Tensor* tensor = find(name)) return *tensor;
  if (!sharded_) return files_.at(path_).at(name);
  std::vector<std::string_view> held;
  for (const auto& [tensor, shard] : shard_of_) held.push_back(tensor);
  throw Error(fmt::format("{}: holds no tensor {}; it holds {}", path_, quote(name), list_names(held)));
}

}  // namespace fp8twin
