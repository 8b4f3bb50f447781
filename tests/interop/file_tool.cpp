// What the interop test runs on our side of the fence.
//
//    interop_file_tool describe FILE    one JSON object: metadata, and of each tensor name, dtype, shape, bytes in hex
//    interop_file_tool copy FROM TO     reads one file and writes the other, whatever their formats
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "emulator/files/tensor.hpp"
#include "emulator/support/error.hpp"

namespace {

void describe(const char* path) {
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(path);
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const fp8twin::Tensor& tensor : file.tensors) {
    const auto values = tensor.as<unsigned char>();
    tensors.push_back({{"name", tensor.name},
                       {"dtype", fp8twin::dtype_name(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"bytes", fmt::format("{:02x}", fmt::join(values, ""))}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"metadata", file.metadata}, {"tensors", tensors}}.dump());
}

void copy(const char* from, const char* to) {
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(from);
  fp8twin::write_tensor_file(to, file.tensors, file.metadata);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  try {
    if (what == "describe" && argc == 3) return describe(argv[2]), 0;
    if (what == "copy" && argc == 4) return copy(argv[2], argv[3]), 0;
    fmt::print(stderr, "usage: interop_file_tool describe FILE | copy FROM TO\n");
  } catch (const fp8twin::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  return 2;
}
