// The tensors of a problem, gathered from checkpoints: `b=FILE:NAME` finds the codes and the scales that go
// with them.
//
//     b=model.safetensors.index.json:layers.0.mlp.up_proj.weight
//       -> codes   layers.0.mlp.up_proj.weight             F8_E4M3 (or U8, as an npy file keeps codes)
//       -> scales  layers.0.mlp.up_proj.weight_scale_inv   or, where that is absent, ..._scale
//
// Both suffixes mean the same: value = code x scale. Scales are F32 in a problem; BF16, F16 and E8M0 scales
// are widened, which is exact. Which shapes fit is read_problem's business; only scales of another rank, such
// as one for the whole tensor, are refused here, since they are recognised by it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "emulator/files/shard_index.hpp"
#include "emulator/files/tensor.hpp"

namespace fp8twin::cli {

/// One `KEY=FILE:NAME` as typed. FILE may contain ':', NAME may not.
struct Source {
  std::string key, file, name;

  std::string text() const { return file + ":" + name; }
};

/// Throws Error when `text` has another form or KEY is no tensor of a problem.
Source parse_source(const std::string& text);

/// A tensor of the problem and where it came from.
struct PackedTensor {
  Tensor tensor;
  Source source;
  DType stored_as;
};

class Packer {
 public:
  /// Gathers all sources, and the scales of `a` and `b` where no source names them. Throws Error.
  std::vector<PackedTensor> gather(const std::vector<Source>& sources);

 private:
  Checkpoint& open(const std::string& file);
  PackedTensor codes(const Source& source);
  PackedTensor scales(const Source& source);
  PackedTensor as_stored(const Source& source);
  /// Where the scales of these codes are, or an empty name.
  Source find_scales(const Source& codes);

  std::map<std::string, Checkpoint> files_;
  std::deque<std::vector<float>> widened_;
};

}  // namespace fp8twin::cli
