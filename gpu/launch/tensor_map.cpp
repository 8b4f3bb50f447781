#include "gpu/launch/tensor_map.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <array>

#include "emulator/support/error.hpp"
#include "gpu/launch/library.hpp"

namespace fp8twin {
namespace {

CUtensorMapDataType driver_type(TensorElement element) {
  switch (element) {
    case TensorElement::uint8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case TensorElement::uint16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case TensorElement::uint32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case TensorElement::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case TensorElement::f32:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMapSwizzle driver_swizzle(SwizzleMode mode) {
  switch (mode) {
    case SwizzleMode::b128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case SwizzleMode::b64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case SwizzleMode::b32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case SwizzleMode::none:
      break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

decltype(::cuTensorMapEncodeTiled)* encode_tiled() {
  static const auto function = [] {
    const std::array<std::string, 1> candidates = {"libcuda.so.1"};
    const Library library(candidates, "NVIDIA's driver", "this needs a machine with an NVIDIA GPU");
    decltype(::cuTensorMapEncodeTiled)* loaded = nullptr;
    library.load(loaded, "cuTensorMapEncodeTiled");
    return loaded;
  }();
  return function;
}

}  // namespace

bool encode_tensor_map(const TensorMapDescription& d, TensorMap& map, std::string& refusal) {
  const std::array<cuuint64_t, 3> size = {d.size[0], d.size[1], d.size[2]};
  const std::array<cuuint64_t, 2> stride = {d.stride[0], d.stride[1]};
  const std::array<cuuint32_t, 3> box = {d.box[0], d.box[1], d.box[2]}, every = {1, 1, 1};
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));
  CUtensorMap encoded;
  const CUresult result = encode_tiled()(
      &encoded, driver_type(d.element), d.rank, reinterpret_cast<void*>(d.base), size.data(), stride.data(),
      box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, driver_swizzle(d.swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    refusal = fmt::format("cuTensorMapEncodeTiled refuses (CUresult {})", static_cast<int>(result));
    return false;
  }
  for (std::size_t i = 0; i < 16; ++i) map.word[i] = encoded.opaque[i];
  return true;
}

TensorMap encode_tensor_map(const TensorMapDescription& description) {
  TensorMap map = {};
  std::string refusal;
  if (!encode_tensor_map(description, map, refusal)) {
    throw Error(
        fmt::format("a tensor map of {} x {} elements with rows {} bytes apart and boxes of {} x {}: {}",
                    description.size[1], description.size[0], description.stride[0], description.box[1],
                    description.box[0], refusal));
  }
  return map;
}

}  // namespace fp8twin
