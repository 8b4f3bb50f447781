// `transpose` and `gemm --layout`: a [K,N] weight refused, turned with its scales and multiplied; scales that cannot turn.
#include "tests/cli/tensor_files.hpp"

#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using fp8twin::Shape;
using fp8twin::TensorFile;

namespace {

/// Where a problem [M,K] x [N,K] and files made from it lie.
struct Files {
  Folder folder;
  std::string problem = folder / "p.safetensors", turned = folder / "t.safetensors",
              d = folder / "d.safetensors", expected = folder / "e.safetensors";

  explicit Files(const std::string& options = "--m 70 --n 200 --k 300") {
    succeeds("random " + problem + " " + options);
    succeeds("gemm " + problem + " -o " + expected);
  }
  std::string transpose(const std::string& from, const std::string& to, const std::string& tensors) const {
    return succeeds("transpose " + from + " " + to + " --tensor " + tensors);
  }
  void gives_the_same_d(const std::string& problem_options) const {
    succeeds("gemm " + problem_options + " -o " + d);
    succeeds("diff " + expected + " " + d);
  }
};

Shape shape(const std::string& path, const char* name) {
  return fp8twin::read_tensor_file(path).at(name).shape;
}

}  // namespace

TEST_CASE("b [K, N] with a 128x128 grid: refused by --layout nn, turned, then the same bits") {
  const Files files;
  const std::string kn = files.folder / "kn.safetensors";
  const std::string text = files.transpose(files.problem, kn, "b");
  CHECK(text == "\"b_scale\" F32 [2, 3] -> [3, 2]\n\"b\" F8_E4M3 [200, 300] -> [300, 200]\n");
  refuses("gemm " + kn + " -o " + files.d + " --layout nn",
          "--layout nn says that K is not contiguous in 'b' [K, N] = [300, 200]; needed is K contiguous, "
          "because FP8 "
          "wgmma reads both operands K-major");
  refuses("gemm " + kn + " -o " + files.d + " --layout nn",
          "'fp8twin transpose " + kn +
              " OUT --tensor b' puts that in order once, scales included, and 'fp8twin gemm "
              "OUT --layout nt'");
  refuses("gemm " + kn + " -o " + files.d, "needed is the same K");
  files.transpose(kn, files.turned, "b");
  files.gives_the_same_d(files.turned);
  files.gives_the_same_d(files.turned + " --layout nt");
  CHECK(fp8twin::read_tensor_file(files.turned).metadata.at("seed") == "1");
}

TEST_CASE("a [K, M] with a scale for each 128x1: turned to 1x128") {
  const Files files("--kind 1d1d --m 200 --n 200 --k 300");
  const TensorFile file = fp8twin::read_tensor_file(files.problem);
  const auto turned = [&](const std::string& name, std::int64_t rows, std::int64_t columns, auto zero) {
    const auto x = values_of<decltype(zero)>(file, name);
    auto y = x;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        y[static_cast<std::size_t>(c * rows + r)] = x[static_cast<std::size_t>(r * columns + c)];
    return y;
  };
  const std::string km = files.folder / "km.safetensors";
  FileMaker()
      .codes("a", {300, 200}, turned("a", 200, 300, std::uint8_t{}))
      .f32("a_scale", {3, 200}, turned("a_scale", 200, 3, 0.0f))
      .codes("b", {300, 200}, turned("b", 200, 300, std::uint8_t{}))
      .f32("b_scale", {3, 200}, turned("b_scale", 200, 3, 0.0f))
      .write(km);
  refuses("gemm " + km + " -o " + files.d + " --layout tn",
          "in 'a' [K, M] = [300, 200] and 'b' [K, N] = [300, 200]");
  refuses("gemm " + km + " -o " + files.d + " --layout tn", "OUT --tensor a,b'");
  refuses("gemm " + km + " -o " + files.d + " --layout tt", "OUT --tensor a'");
  files.transpose(km, files.turned, "a,b");
  files.gives_the_same_d(files.turned);
  files.transpose(km, files.turned, "a --tensor b");
  files.gives_the_same_d(files.turned);
}

TEST_CASE("extents of one leave the bytes in order: --layout takes them as they are") {
  for (const char* options : {"--m 1 --n 200 --k 300", "--m 1 --n 1 --k 300", "--m 40 --n 200 --k 1",
                              "--kind batched --groups 3 --m 1 --n 1 --k 300"}) {
    const Files files(options);
    const TensorFile file = fp8twin::read_tensor_file(files.problem);
    const auto swapped = [&](const std::vector<std::string>& names, const std::string& layout) {
      std::vector<fp8twin::Tensor> tensors = file.tensors;
      for (auto& tensor : tensors) {
        for (const std::string& name : names) {
          const std::size_t rank = tensor.shape.size();
          if (tensor.name == name || tensor.name == name + "_scale")
            std::swap(tensor.shape[rank - 1], tensor.shape[rank - 2]);
        }
      }
      write_tensor_file(files.turned, tensors, {});
      INFO(options << " " << layout);
      files.gives_the_same_d(files.turned + " --layout " + layout);
    };
    const std::string text = options;
    swapped({"a"}, "tt");
    if (text.find("--n 200 --k 300") != std::string::npos) continue;
    swapped({"b"}, "nn");
    swapped({"a", "b"}, "tn");
  }
  const Files files("--m 1 --n 200 --k 300");  // a alone is in order: what is left is tt's b
  std::vector<fp8twin::Tensor> tensors;
  const TensorFile file = fp8twin::read_tensor_file(files.problem);
  for (fp8twin::Tensor tensor : file.tensors) {
    std::swap(tensor.shape[0], tensor.shape[1]);
    tensors.push_back(tensor);
  }
  write_tensor_file(files.turned, tensors, {});
  refuses("gemm " + files.turned + " -o " + files.d + " --layout tn",
          "OUT --tensor b' puts that in order once, scales "
          "included, and 'fp8twin gemm OUT --layout tt'");
}

TEST_CASE("experts are turned each by itself, and other names, types and scales go along") {
  const Folder folder;
  const std::string in = folder / "in.safetensors", out = folder / "out.safetensors";
  FileMaker()
      .codes("w", {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
      .f32("w_scale_inv", {2, 1, 1}, {0.5f, 0.25f})
      .codes("v", {2, 2}, {1, 2, 3, 4})
      .f32("v_scale", {}, {0.5f})
      .codes("one", {2, 3}, {1, 2, 3, 4, 5, 6})
      .f32("one_scale", {1, 3}, {1, 2, 3})
      .bf16("half", {1, 3}, {1, 2, 3})
      .f32("left", {2}, {5, 6})
      .write(in, {{"seed", "7"}, {"note", "kept"}});
  const nlohmann::json json = answer("transpose " + in + " " + out + " --tensor w,v,one --tensor half");
  CHECK(json["tensors"].size() == 7);
  const TensorFile file = fp8twin::read_tensor_file(out);
  CHECK(values_of<std::uint8_t>(file, "w") ==
        std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12});
  CHECK(shape(out, "w") == Shape{2, 3, 2});
  CHECK(shape(out, "w_scale_inv") == Shape{2, 1, 1});
  CHECK(values_of<std::uint8_t>(file, "v") == std::vector<std::uint8_t>{1, 3, 2, 4});
  CHECK(shape(out, "v_scale") == Shape{});
  CHECK(shape(out, "one_scale") == Shape{3, 1});
  CHECK(shape(out, "half") == Shape{3, 1});
  CHECK(values_of<float>(file, "left") == std::vector<float>{5, 6});
  CHECK(file.metadata.at("note") == "kept");
  CHECK(file.metadata.at("seed") == "7");
}

TEST_CASE("a 1x128 scale does not turn, and the sentence's three commands lead to a problem") {
  const Files files("--kind 1d1d --m 70 --n 200 --k 300");
  const std::string values = files.folder / "values.safetensors", out = files.folder / "out.safetensors";
  const std::string kn = files.folder / "kn.safetensors";
  refuses("transpose " + files.problem + " " + kn + " --tensor b",
          "tensor \"b_scale\" has shape [200, 3], a scale for each row of \"b\" [200, 300], which would "
          "become one for "
          "each column");
  refuses("transpose " + files.problem + " " + kn + " --tensor a,b",
          "'fp8twin dequantize " + files.problem +
              " VALUES --tensor a', 'fp8twin transpose VALUES TURNED --tensor a', 'fp8twin quantize TURNED "
              "OUT --tensor a'");
  CHECK_FALSE(std::filesystem::exists(kn));

  // b [K, N] with a scale for 128 of N, as one gets it from quantising a [K, N] weight.
  succeeds("dequantize " + files.problem + " " + values + " --tensor b");
  files.transpose(values, files.turned, "b");
  succeeds("quantize " + files.turned + " " + kn + " --tensor b --block 1x128");
  CHECK(shape(kn, "b") == Shape{300, 200});
  CHECK(shape(kn, "b_scale") == Shape{300, 2});
  refuses("transpose " + kn + " " + out + " --tensor b", "needed are new scales along the new rows");
  succeeds("dequantize " + kn + " " + values + " --tensor b");
  files.transpose(values, files.turned, "b");
  succeeds("quantize " + files.turned + " " + out + " --tensor b");
  CHECK(answer("gemm " + out + " -o " + files.d)["kind"] == "1d2d");
  CHECK(shape(out, "a") == Shape{70, 300});
}

TEST_CASE("what cannot be turned is a sentence") {
  const Folder folder;
  const std::string in = folder / "in.safetensors", out = folder / "out.safetensors";
  FileMaker()
      .codes("a", {2, 4}, std::vector<std::uint8_t>(8))
      .f32("a_scale", {2, 2}, std::vector<float>(4))
      .add<std::int32_t>("k_sizes", fp8twin::DType::i32, {2}, {2, 2})
      .codes("w", {2, 300}, std::vector<std::uint8_t>(600))
      .f32("w_scale", {3, 2}, std::vector<float>(6))
      .codes("line", {4}, std::vector<std::uint8_t>(4))
      .write(in);
  const auto refused = [&](const std::string& tensors, const std::string& part) {
    refuses("transpose " + in + " " + out + " --tensor " + tensors, part);
  };
  refused("a", "tensor \"a\" is grouped along K by \"k_sizes\"");
  refused("w", "tensor \"w_scale\" has shape [3, 2], no grid of scales of \"w\", shape [2, 300]");
  refused("line", "a tensor of two or three dimensions is needed");
  refused("none", "none");
  refused("k_sizes,", "k_sizes");
  refuses("transpose " + in + " " + out, "--tensor is");
  refuses("transpose " + in + " " + in + " --tensor a", "in.safetensors");
  refuses("gemm " + in + " -o " + out + " --layout no", "--layout: found 'no'; nt, nn, tn or tt is needed");
  CHECK_FALSE(std::filesystem::exists(out));
  FileMaker().codes("w", {2, 2}, {1, 2, 3, 4}).f32("w_scale", {1, 1}, {1}).write(in);
  refused("w,w", "found \"w\" twice");
  refused("w,w_scale", "found \"w_scale\" twice");
}
