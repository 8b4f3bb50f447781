// The driver's encoding of a tensor map: cuTensorMapEncodeTiled.
#pragma once

#include <string>

#include "emulator/layout/tensor_map.hpp"

namespace fp8twin {

/// False, with the reason, where the driver refuses the description.
bool encode_tensor_map(const TensorMapDescription& description, TensorMap& map, std::string& refusal);

/// Throws Error with the reason instead.
TensorMap encode_tensor_map(const TensorMapDescription& description);

}  // namespace fp8twin
