// Two traces made here, byte by byte: the first difference in time, not in the file; the place it names; what is refused.
#include "emulator/report/trace.hpp"

#include <cstring>
#include <map>
#include <vector>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Two K blocks of a tile of 128 x 16: 256 threads of 8 registers.
struct MadeTrace {
  std::map<std::string, std::vector<std::uint32_t>> words;
  TensorFile file;

  MadeTrace() {
    file.path = "made";
    file.metadata = {{"kind", "trace"}, {"m", "128"}, {"n", "16"}, {"k", "256"}};
    add("accumulator", DType::f32, {2, 4, 256, 8});
    add("promoted", DType::f32, {2, 256, 8});
    add("output", DType::f32, {128, 16});
    add("a_tile", DType::u8, {2, 128, 128});
    add("b_tile", DType::u8, {2, 16, 128});
  }
  void add(const std::string& name, DType dtype, const Shape& shape) {
    auto& storage = words[name];
    storage.assign(static_cast<std::size_t>(element_count(shape)) * dtype_size(dtype) / 4, 0x3f800000);
    file.tensors.push_back({name, dtype, shape, std::as_bytes(std::span(storage))});
  }
  MadeTrace(const MadeTrace&) = delete;
  MadeTrace& operator=(const MadeTrace&) = delete;
};

std::string step(const MadeTrace& a, const MadeTrace& b) {
  const auto found = first_trace_difference(a.file, b.file);
  return found ? found->step : "none";
}

std::string refusal(const TensorFile& a, const TensorFile& b) {
  try {
    first_trace_difference(a, b);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("the first in time, whatever else differs") {
  MadeTrace a, b;
  CHECK(is_trace(a.file));
  CHECK(step(a, b) == "none");
  b.words["output"][0] ^= 1;
  CHECK(step(a, b) == "output");
  b.words["promoted"][256 * 8 + 7] ^= 1;
  CHECK(step(a, b) == "block 1, promotion");
  b.words["accumulator"][(4 + 3) * 256 * 8] ^= 1;
  CHECK(step(a, b) == "block 1, k32 step 3");
  b.words["accumulator"][(4 + 0) * 256 * 8 + 9] ^= 1;
  CHECK(step(a, b) == "block 1, k32 step 0");
  b.words["b_tile"][16 * 32 + 1] ^= 1;
  CHECK(step(a, b) == "block 1, tile b");
  b.words["a_tile"][128 * 32] ^= 1;
  CHECK(step(a, b) == "block 1, tile a");
  b.words["promoted"][0] ^= 1;
  CHECK(step(a, b) == "block 0, promotion");
  b.words["accumulator"][2047] ^= 1;
  CHECK(step(a, b) == "block 0, k32 step 0");
}

TEST_CASE("the second warpgroup's rows begin at 64") {
  MadeTrace a, b;
  b.words["promoted"][(128 + 37) * 8 + 6] = 0xbf800000;
  const auto found = first_trace_difference(a.file, b.file);
  REQUIRE(found);
  CHECK(found->thread == 128 + 37);
  CHECK(found->reg == 6);
  CHECK(found->row == 64 + 25);
  CHECK(found->column == 10);
  CHECK(found->sentence() ==
        "block 0, promotion: thread 165, register 6 (row 89, column 10 of the tile of D) holds 1 0x3f800000 "
        "in a and "
        "-1 0xbf800000 in b");
}

TEST_CASE("the bytes of a tile, through the swizzle") {
  MadeTrace a, b;
  b.words["b_tile"][32 * 9 + 4 * 6] ^= 0x100;  // row 9, chunk 6, byte 1: column 16 (6 ^ 1) + 1
  const auto found = first_trace_difference(a.file, b.file);
  REQUIRE(found);
  CHECK(found->index == Shape{0, 9, 97});
  CHECK(found->row == 9);
  CHECK(found->column == 16 * 7 + 1);
  CHECK_FALSE(found->thread);
  CHECK_THAT(found->sentence(),
             contains_text("byte 97 of shared row 9 (row 9, column 113 of the block's B)"));
}

TEST_CASE("of step 9: B's rows are in a_tile, A's in b_tile, and D is transposed") {
  MadeTrace a, b;
  a.file.metadata["kernel"] = b.file.metadata["kernel"] = "gemm_9_swapped";
  const auto sentence = [&] { return first_trace_difference(a.file, b.file)->sentence(); };
  b.words["output"][16 * 25 + 10] ^= 1;
  CHECK_THAT(sentence(),
             contains_text("thread 37, register 6 (row 25, column 10 of the tile of D transposed)"));
  b.words["b_tile"][0] ^= 1;
  CHECK_THAT(sentence(),
             contains_text("block 0, tile b: byte 0 of shared row 0 (row 0, column 0 of the block's A)"));
  b.words["a_tile"][0] ^= 1;
  CHECK_THAT(sentence(),
             contains_text("block 0, tile a: byte 0 of shared row 0 (row 0, column 0 of the block's B)"));
}

TEST_CASE("an output's owner") {
  MadeTrace a, b;
  b.words["output"][16 * (64 + 25) + 10] ^= 1;
  const auto found = first_trace_difference(a.file, b.file);
  REQUIRE(found);
  CHECK(found->thread == 165);
  CHECK(found->reg == 6);
}

TEST_CASE("half a trace, and traces of two launches") {
  MadeTrace a, b;
  b.file.metadata["k"] = "384";
  CHECK_THAT(refusal(a.file, b.file), contains_text("made is a trace with k 256 and made one with 384"));
  b.file.metadata = a.file.metadata;
  b.file.tensors[1].shape = {256, 2, 8};
  CHECK_THAT(refusal(a.file, b.file), contains_text("of this trace is"));
  b.file.tensors.erase(b.file.tensors.begin() + 1);
  CHECK_THAT(refusal(a.file, b.file), contains_text("promoted"));
}

TEST_CASE("no K block at all: only the output is left to differ") {
  MadeTrace a, b;
  for (MadeTrace* trace : {&a, &b}) {
    for (Tensor& tensor : trace->file.tensors) {
      if (tensor.name == "output") continue;
      tensor.shape[0] = 0;
      tensor.bytes = {};
    }
  }
  CHECK(step(a, b) == "none");
  b.words["output"][3] ^= 1;
  CHECK(step(a, b) == "output");
}
