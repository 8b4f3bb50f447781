// A checkpoint in several files: NAME.safetensors.index.json says which file ("shard") holds which tensor.
//
//     {"metadata": {"total_size": 688586727424},
//      "weight_map": {"model.embed_tokens.weight": "model-00001-of-00163.safetensors", ...}}
//
// Shards lie beside the index. An index is somebody else's file: a shard named by an absolute path, or by one
// that climbs out with "..", is refused, so that reading a checkpoint reads nothing else.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

/// Tensors by name from one .safetensors or .npy file or from a sharded checkpoint's index; shards open when
/// needed.
class Checkpoint {
 public:
  /// A path ending in .json is an index. Throws Error when it cannot be read or is not one.
  explicit Checkpoint(const std::string& path);

  /// The tensor, or nullptr. Valid as long as the Checkpoint lives. Throws Error when its shard is wrong.
  const Tensor* find(std::string_view name);
  /// The tensor, or an Error that lists what there is.
  const Tensor& at(std::string_view name);

 private:
  std::string path_;
  bool sharded_ = false;
  std::map<std::string, std::string, std::less<>> shard_of_;  // tensor -> shard's path
  std::map<std::string, TensorFile> files_;                   // path -> opened
};

}  // namespace fp8twin
