// Traces through the program: the tile of D that was asked for, in every step; equal from schedule to schedule and from machine
// to card; one bit changed in a file is named with its step, thread and register.
#include <cstring>
#include <filesystem>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin::test;
using fp8twin::DType;
using fp8twin::Shape;

namespace {

/// A problem of three K blocks, the last of 16, and its trace on the machine.
struct Traced {
  Folder folder;
  std::string problem = folder / "p.safetensors", trace = folder / "t.safetensors", config;

  explicit Traced(const std::string& chosen = "--kernel 3 --tile 64x112",
                  const std::string& engine = "--engine machine")
      : config(chosen) {
    succeeds("random " + problem + " --m 130 --n 120 --k 272");
    succeeds(command(trace, engine));
  }
  std::string command(const std::string& to, const std::string& engine) const {
    return "gemm " + problem + " -o " + (folder / "d.safetensors") + " " + config + " --trace " + to + " " +
           engine;
  }

  /// The trace again, with the lowest bit of one byte turned.
  std::string with_bit_turned(const std::string& tensor, std::size_t byte) const {
    const fp8twin::TensorFile file = fp8twin::read_tensor_file(trace);
    std::vector<fp8twin::Tensor> tensors = file.tensors;
    std::vector<std::byte> bytes;
    for (fp8twin::Tensor& one : tensors) {
      if (one.name != tensor) continue;
      bytes.assign(one.bytes.begin(), one.bytes.end());
      bytes.at(byte) ^= std::byte{1};
      one.bytes = bytes;
    }
    const std::string path = folder / "turned.safetensors";
    fp8twin::write_tensor_file(path, tensors, file.metadata);
    return path;
  }

  nlohmann::json diff(const std::string& other) const {
    const Result result = run("diff " + trace + " " + other + " --json");
    INFO(result.err);
    REQUIRE(result.status == 1);
    return result.json();
  }
};

}  // namespace

TEST_CASE("what a trace holds") {
  const Traced traced("--kernel 7 --tile 128x24 --output f32",
                      "--engine machine --schedule latest --trace-tile 1,4");
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(traced.trace);
  CHECK(file.at("a_tile").shape == Shape{3, 128, 128});
  CHECK(file.at("b_tile").shape == Shape{3, 24, 128});
  CHECK(file.at("accumulator").shape == Shape{3, 4, 256, 12});
  CHECK(file.at("promoted").shape == Shape{3, 256, 12});
  CHECK(file.at("output").shape == Shape{128, 24});
  CHECK(file.at("output").dtype == DType::f32);
  const std::pair<const char*, const char*> said[] = {
      {"kind", "trace"},     {"engine", "machine"}, {"kernel", "gemm_7_full"},
      {"tile", "128x24"},    {"cluster", "1x1"},    {"trace_tile", "1,4"},
      {"m", "130"},          {"n", "120"},          {"k", "272"},
      {"schedule", "latest"}};
  for (const auto& [key, value] : said) CHECK(file.metadata.at(key) == value);
  CHECK(file.metadata.at("kernels").starts_with("0x"));

  // The tile's last rows are D's: rows 128 and 129, columns 96 to 119.
  const fp8twin::TensorFile result = fp8twin::read_tensor_file(traced.folder / "d.safetensors");
  const auto d = result.at("d").as<float>();
  const auto output = file.at("output").as<float>();
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(std::memcmp(&output[24 * row], &d[120 * (128 + row) + 96], 24 * sizeof(float)) == 0);
  }
  CHECK(output[24 * 2] == 0);  // past the end
}

TEST_CASE("tile m,n is counted along M and along N of D, with operands swapped too") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", model = folder / "model.safetensors",
                    trace = folder / "t.safetensors";
  constexpr std::size_t m = 130, n = 120, k = 144;
  succeeds("random " + problem + " --m 130 --n 120 --k 144");
  succeeds("gemm " + problem + " -o " + model);
  const fp8twin::TensorFile operands = fp8twin::read_tensor_file(problem),
                            result = fp8twin::read_tensor_file(model);
  const auto d = result.at("d").as<std::uint16_t>();
  const auto a = operands.at("a").bytes, b = operands.at("b").bytes;

  struct Case {
    std::string options;
    bool swapped;
    std::size_t rows, columns;  // of D in a tile
  };
  for (const Case& one : {Case{"--kernel 7 --tile 64x16", false, 64, 16},
                          {"--kernel 9 --tile 64x16 --in-flight 2", true, 16, 64},
                          {"--kernel 9 --tile 128x8 --cluster 1x2", true, 8, 128}}) {
    const std::size_t last_m = (m - 1) / one.rows, last_n = (n - 1) / one.columns;
    for (const auto& [tile_m, tile_n] :
         {std::pair<std::size_t, std::size_t>{0, 0}, {last_m, 0}, {0, last_n}, {last_m, last_n}}) {
      const std::string tile = std::to_string(tile_m) + "," + std::to_string(tile_n);
      INFO(one.options << " " << tile);
      const std::string said =
          succeeds("gemm " + problem + " -o " + (folder / "d.safetensors") + " --engine machine " +
                   one.options + " --trace " + trace + " --trace-tile " + tile);
      CHECK_THAT(said, contains_text("a trace of tile " + tile));
      const fp8twin::TensorFile file = fp8twin::read_tensor_file(trace);
      CHECK(file.metadata.at("trace_tile") == tile);
      const auto output = file.at("output").as<std::uint16_t>();
      REQUIRE(output.size() == one.rows * one.columns);
      std::size_t wrong = 0;
      for (std::size_t row = 0; row < one.rows; ++row) {
        for (std::size_t column = 0; column < one.columns; ++column) {
          const std::size_t i = tile_m * one.rows + row, j = tile_n * one.columns + column;
          const std::uint16_t expected = i < m && j < n ? d[i * n + j] : std::uint16_t{0};
          wrong += output[one.swapped ? column * one.rows + row : row * one.columns + column] != expected;
        }
      }
      CHECK(wrong == 0);

      // The first K block of the first row of each operand's tile: the swizzle leaves that row as it is.
      const std::byte* row_of_a = &a[tile_m * one.rows * k];
      const std::byte* row_of_b = &b[tile_n * one.columns * k];
      CHECK(std::memcmp(&file.at("a_tile").bytes[0], one.swapped ? row_of_b : row_of_a, 128) == 0);
      CHECK(std::memcmp(&file.at("b_tile").bytes[0], one.swapped ? row_of_a : row_of_b, 128) == 0);
    }
    const auto outside = [&](std::size_t tile_m, std::size_t tile_n) {
      refuses("gemm " + problem + " -o " + (folder / "no.safetensors") + " --engine machine " + one.options +
                  " --trace " + (folder / "none.safetensors") + " --trace-tile " + std::to_string(tile_m) +
                  "," + std::to_string(tile_n),
              "D is 130 x 120 and has " + std::to_string(last_m + 1) + " along M and " +
                  std::to_string(last_n + 1) + " along N");
    };
    outside(last_m + 1, 0);
    outside(0, last_n + 1);
    outside(std::size_t{1} << 33, 0);
  }
}

TEST_CASE("one row of D: step 9 has one tile along M and many along N") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors";
  succeeds("random " + problem + " --m 1 --n 2112 --k 144");
  const std::string command = "gemm " + problem + " -o " + out +
                              " --engine machine --kernel 9 --tile 64x8 --trace " +
                              (folder / "t.safetensors") + " --trace-tile ";
  const std::string last = "0,32";  // of 64 columns each
  succeeds(command + last);
  const fp8twin::TensorFile trace = fp8twin::read_tensor_file(folder / "t.safetensors"),
                            result = fp8twin::read_tensor_file(out);
  CHECK(trace.metadata.at("trace_tile") == last);
  const auto output = trace.at("output").as<std::uint16_t>(), d = result.at("d").as<std::uint16_t>();
  REQUIRE(trace.at("output").shape == Shape{64, 8});
  for (std::size_t column = 0; column < 64; ++column) CHECK(output[8 * column] == d[64 * 32 + column]);
  refuses(
      command + "1,0",
      "--trace-tile: there is no tile 1,0; needed is a tile of D, counted from 0: D is 1 x 2112 and has 1 "
      "along M and 33 along N, of 8 x 64 (64x8 of D transposed)");
}

TEST_CASE("diff of two traces of step 9 says that the tile is transposed, and compares no two tiles") {
  const Traced traced("--kernel 9 --tile 64x16 --in-flight 2 --trace-tile 8,1");
  const std::string other = traced.folder / "other.safetensors";
  succeeds(traced.command(other, "--engine machine --schedule latest"));
  CHECK(answer("diff " + traced.trace + " " + other)["equal"] == true);
  const Result text =
      run("diff " + traced.trace + " " + traced.with_bit_turned("output", 2 * (25 * 16 + 10)));
  CHECK_THAT(text.out,
             contains_text("thread 37, register 6 (row 25, column 10 of the tile of D transposed)"));
  succeeds("gemm " + traced.problem + " -o " + (traced.folder / "d.safetensors") + " --trace " + other +
           " --engine machine --kernel 9 --tile 64x16 --in-flight 2 --trace-tile 1,1");
  refuses("diff " + traced.trace + " " + other, "trace_tile 8,1");
}

TEST_CASE("schedules leave equal traces") {
  const Traced traced("--kernel 7 --tile 64x40");
  for (const char* schedule : {"earliest", "latest --schedule-seed 5 --multiprocessors 2"}) {
    const std::string other = traced.folder / "other.safetensors";
    succeeds(traced.command(other, std::string("--engine machine --schedule ") + schedule));
    const nlohmann::json json = answer("diff " + traced.trace + " " + other);
    CHECK(json["equal"] == true);
    CHECK(json["first"].is_null());
    CHECK(json["step"].is_null());
    CHECK(json["thread"].is_null());
    CHECK(json["register"].is_null());
    CHECK_THAT(succeeds("diff " + traced.trace + " " + other),
               contains_text("the traces are equal at every step"));
  }
}

TEST_CASE("a bit of an accumulator: step, thread, register, row and column") {
  const Traced traced;
  // block 2, step 1, thread 77, register 43 of [3, 4, 128, 56]
  const std::string other = traced.with_bit_turned("accumulator", 4 * (((2 * 4 + 1) * 128 + 77) * 56 + 43));
  const nlohmann::json json = traced.diff(other), first = json["first"];
  CHECK(json["different"] == 1);
  CHECK(json["step"] == "block 2, k32 step 1");
  CHECK(json["thread"] == 77);
  CHECK(json["register"] == 43);
  CHECK(first["step"] == json["step"]);
  CHECK(first["tensor"] == "accumulator");
  CHECK(first["index"] == nlohmann::json::array({2, 1, 77, 43}));
  CHECK(first["row"] == 43);
  CHECK(first["column"] == 83);
  const auto bits = [](const nlohmann::json& hex) { return std::stoul(hex.get<std::string>(), nullptr, 16); };
  CHECK((bits(first["a"]) ^ bits(first["b"])) == 1);
  const Result text = run("diff " + traced.trace + " " + other);
  CHECK_THAT(
      text.out,
      contains_text("the traces part at block 2, k32 step 1: thread 77, register 43 (row 43, column 83"));
}

TEST_CASE("a bit of a tile, of a promoted sum, of the output") {
  const Traced traced;
  // Row 3 of block 1 of A: K column 16 lies in chunk 1 ^ 3.
  nlohmann::json json = traced.diff(traced.with_bit_turned("a_tile", (64 + 3) * 128 + 32));
  CHECK(json["step"] == "block 1, tile a");
  CHECK(json["thread"].is_null());
  CHECK(json["first"]["row"] == 3);
  CHECK(json["first"]["column"] == 16);
  json = traced.diff(traced.with_bit_turned("promoted", 4 * (128 * 56 + 5 * 56 + 2)));
  CHECK(json["step"] == "block 1, promotion");
  CHECK(json["thread"] == 5);
  CHECK(json["register"] == 2);
  json = traced.diff(
      traced.with_bit_turned("output", 2 * (25 * 112 + 10)));  // (25, 10) is thread 37, register 6
  CHECK(json["step"] == "output");
  CHECK(json["thread"] == 37);
  CHECK(json["register"] == 6);
}

TEST_CASE("traces of other problems, configurations or tiles are refused") {
  const Traced traced;
  const std::string other = traced.folder / "other.safetensors", diff = "diff " + traced.trace + " " + other;
  const std::string gemm = "gemm " + traced.problem + " -o " + (traced.folder / "d.safetensors") +
                           " --trace " + other + " --engine machine ";
  succeeds(gemm + "--kernel 3 --tile 64x16");
  refuses(diff, "is a trace with tile 64x112 and");
  succeeds(gemm + "--kernel 4 --tile 64x112");
  refuses(diff, "kernel gemm_3_stages");
  succeeds(gemm + "--kernel 3 --tile 64x112 --trace-tile 1,1");
  refuses(diff, "trace_tile 0,0");
  succeeds("random " + traced.problem + " --m 130 --n 120 --k 256");
  succeeds(gemm + "--kernel 3 --tile 64x112");
  refuses(diff, "k 272");
}

TEST_CASE("machine and card leave equal traces") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("the driver does not run under sanitizers");
#else
  for (const char* config : {"--kernel 1 --tile 64x72", "--kernel 3 --tile 64x112",
                             "--kernel 7 --tile 128x64", "--kernel 9 --tile 64x16 --trace-tile 8,1"}) {
    const Traced traced(config);
    const std::string other = traced.folder / "gpu.safetensors";
    const Result result = run(traced.command(other, "--engine gpu"));
    if (result.status == 2) {
      CHECK_FALSE(std::filesystem::exists(other));
      skip(result.err);
      return;
    }
    CHECK(answer("diff " + traced.trace + " " + other)["equal"] == true);
  }
#endif
}
