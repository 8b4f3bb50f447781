// `random`: every kind's tensors and shapes, the same bytes everywhere (pinned), and each option's limits.
#include <cstdint>
#include <cstdio>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using fp8twin::Shape;
using fp8twin::TensorFile;

namespace {

/// FNV-1a over the tensors' bytes: the header holds the program's version, the bytes do not.
std::string digest(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const fp8twin::Tensor& tensor : fp8twin::read_tensor_file(path).tensors) {
    for (const std::byte byte : tensor.bytes)
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

TensorFile made(const Folder& folder, const std::string& options) {
  succeeds("random " + (folder / "p.safetensors") + " " + options);
  return fp8twin::read_tensor_file(folder / "p.safetensors");
}

Shape shape(const TensorFile& file, const char* name) { return file.at(name).shape; }

std::vector<std::int32_t> integers(const TensorFile& file, const char* name) {
  const auto values = file.at(name).as<std::int32_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("the same bytes on every machine") {
  const Folder folder;
  const std::string path = folder / "p.safetensors";
  const auto digest_of = [&](const std::string& options) {
    succeeds("random " + path + " " + options);
    return digest(path);
  };
  CHECK(digest_of("--m 33 --n 200 --k 300") == "1823733a51b43080");
  CHECK(digest_of("--m 33 --n 200 --k 300 --seed 7") == "17b434ff57ac8be6");
  CHECK(digest_of("--m 33 --n 200 --k 300 --distribution adversarial") == "aece1c28a388d035");
  CHECK(digest_of("--kind 1d1d --m 33 --n 200 --k 300 --with-c") == "637a3d9d57b45ff9");
  CHECK(digest_of("--kind contiguous --groups 200,0,56,192 --n 40 --k 200") == "feb5e18444a39ae4");
  CHECK(digest_of("--kind masked --groups 200,0,56 --max-m 256 --n 40 --k 200") == "7966b186a2c7debe");
  CHECK(digest_of("--kind k-grouped --groups 200,0,56 --m 33 --n 40 --with-c") == "dcef41fb84b2c540");
  CHECK(digest_of("--kind batched --groups 3 --m 33 --n 40 --k 200") == "3aa672e8e812a166");
  CHECK(digest_of("--kind wgmma --n 256 --k 128 --with-c --distribution wide-c") == "61aeb0607babcf61");
}

TEST_CASE("the file depends on seed and options only") {
  const Folder folder;
  const std::string size = " --m 5 --n 6 --k 200";
  succeeds("random " + (folder / "one.safetensors") + size);
  succeeds("random " + (folder / "two.safetensors") + size + " --threads 3 --seed 1");
  succeeds("random " + (folder / "three.safetensors") + size + " --seed 2");
  CHECK(read_text(folder / "one.safetensors") == read_text(folder / "two.safetensors"));
  CHECK(digest(folder / "one.safetensors") != digest(folder / "three.safetensors"));
  const TensorFile file = fp8twin::read_tensor_file(folder / "three.safetensors");
  CHECK(file.metadata.at("seed") == "2");
  CHECK(file.metadata.at("kind") == "1d2d");
  CHECK(file.metadata.at("distribution") == "normal");
  CHECK(file.metadata.count("program") == 1);
}

TEST_CASE("1d2d and 1d1d") {
  const Folder folder;
  const TensorFile plain = made(folder, "--m 5 --n 200 --k 300");
  CHECK(shape(plain, "a") == Shape{5, 300});
  CHECK(shape(plain, "a_scale") == Shape{5, 3});
  CHECK(shape(plain, "b") == Shape{200, 300});
  CHECK(shape(plain, "b_scale") == Shape{2, 3});
  CHECK_FALSE(plain.find("c"));
  const TensorFile per_row = made(folder, "--kind 1d1d --m 5 --n 200 --k 300 --with-c");
  CHECK(shape(per_row, "b_scale") == Shape{200, 3});
  CHECK(shape(per_row, "c") == Shape{5, 200});
  CHECK(shape(made(folder, "--m 5 --n 200 --k 300 --with-c"), "c") == Shape{5, 200});
}

TEST_CASE("contiguous groups start on multiples of 128, padding has index -1") {
  const Folder folder;
  const TensorFile file = made(folder, "--kind contiguous --groups 200,0,56,192 --n 40 --k 200");
  CHECK(shape(file, "a") == Shape{640, 200});
  CHECK(shape(file, "a_scale") == Shape{640, 2});
  CHECK(shape(file, "b") == Shape{4, 40, 200});
  CHECK(shape(file, "b_scale") == Shape{4, 1, 2});
  const std::vector<std::int32_t> indices = integers(file, "m_indices");
  REQUIRE(indices.size() == 640);
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const int needed = row < 200 ? 0 : row < 256 ? -1 : row < 312 ? 2 : row < 384 ? -1 : row < 576 ? 3 : -1;
    CHECK(indices[row] == needed);
  }
  CHECK(shape(made(folder, "--kind contiguous --groups 200,56 --m 256 --n 1 --k 1"), "a") == Shape{384, 1});
  CHECK(shape(made(folder, "--kind contiguous --groups 200,56 --m 500 --n 1 --k 1"), "a") == Shape{500, 1});
  CHECK(shape(made(folder, "--kind contiguous --m 5 --n 1 --k 1"), "a") == Shape{128, 1});
}

TEST_CASE("contiguous: group_ends, gaps, and an M that cuts the last padding off") {
  const Folder folder;
  const std::string base = "--kind contiguous --groups 0,200,0,56 --n 40 --k 200 ";
  const TensorFile ends = made(folder, base + "--group-ends");
  CHECK_FALSE(ends.find("m_indices"));
  CHECK(integers(ends, "group_ends") == std::vector<std::int32_t>{0, 200, 200, 312});
  CHECK(shape(ends, "a") == Shape{384, 200});
  CHECK(shape(made(folder, base + "--group-ends --gaps 0,0,0,0,2"), "a") == Shape{640, 200});
  CHECK(shape(made(folder, base + "--m 312"), "a") == Shape{312, 200});
  const TensorFile gaps = made(folder, base + "--gaps 1,0,3,0,2");
  const std::vector<std::int32_t> indices = integers(gaps, "m_indices");
  REQUIRE(indices.size() == 128 + 256 + 384 + 128 + 256);
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const bool second = row >= 128 && row < 328, fourth = row >= 768 && row < 824;
    CHECK(indices[row] == (second ? 1 : fourth ? 3 : -1));
  }
}

TEST_CASE("padding: NaN or zero where rows belong to no group, and the kind of b's scales") {
  const Folder folder;
  const std::string base = "--kind masked --groups 3,0 --max-m 4 --n 40 --k 2 ";
  CHECK(made(folder, base).metadata.count("padding") == 0);
  const TensorFile nan = made(folder, base + "--padding nan");
  CHECK(nan.metadata.at("padding") == "nan");
  const auto codes = nan.at("a").as<std::uint8_t>();
  for (std::size_t i = 0; i < codes.size(); ++i) CHECK(((codes[i] & 0x7f) == 0x7f) == (i >= 6));
  const TensorFile zero = made(folder, base + "--padding zero --b-block 1x128");
  const auto scales = zero.at("a_scale").as<float>();
  for (std::size_t i = 0; i < scales.size(); ++i) CHECK((scales[i] == 0) == (i >= 3));
  CHECK(shape(zero, "b_scale") == Shape{2, 40, 1});
  CHECK(shape(made(folder, "--kind k-grouped --groups 3,9 --m 2 --n 200 --b-block 128x128"), "b_scale") ==
        Shape{2, 2});
}

TEST_CASE("masked, k-grouped, batched, wgmma") {
  const Folder folder;
  const TensorFile masked = made(folder, "--kind masked --groups 200,0,56 --max-m 256 --n 40 --k 200");
  CHECK(shape(masked, "a") == Shape{3, 256, 200});
  CHECK(shape(masked, "a_scale") == Shape{3, 256, 2});
  CHECK(shape(masked, "b") == Shape{3, 40, 200});
  CHECK(integers(masked, "masked_m") == std::vector<std::int32_t>{200, 0, 56});
  CHECK(shape(made(folder, "--kind masked --groups 200,0,56 --n 40 --k 200"), "a") == Shape{3, 200, 200});

  const TensorFile k_grouped = made(folder, "--kind k-grouped --groups 200,0,56 --m 33 --n 40 --with-c");
  CHECK(shape(k_grouped, "a") == Shape{33, 256});
  CHECK(shape(k_grouped, "a_scale") == Shape{33, 3});  // blocks restart with each group: 2 + 0 + 1
  CHECK(shape(k_grouped, "b_scale") == Shape{40, 3});
  CHECK(shape(k_grouped, "c") == Shape{3, 33, 40});
  CHECK(integers(k_grouped, "k_sizes") == std::vector<std::int32_t>{200, 0, 56});

  const TensorFile batched = made(folder, "--kind batched --groups 3 --m 33 --n 200 --k 200");
  CHECK(shape(batched, "a") == Shape{3, 33, 200});
  CHECK(shape(batched, "b_scale") == Shape{3, 2, 2});

  const TensorFile wgmma = made(folder, "--kind wgmma --n 8 --k 96 --with-c");
  CHECK(shape(wgmma, "a") == Shape{64, 96});
  CHECK(shape(wgmma, "b") == Shape{8, 96});
  CHECK(shape(wgmma, "c") == Shape{64, 8});
  CHECK_FALSE(wgmma.find("a_scale"));
}

TEST_CASE("every extent may be zero") {
  const Folder folder;
  CHECK(shape(made(folder, "--m 0 --n 5 --k 7"), "a") == Shape{0, 7});
  CHECK(shape(made(folder, "--m 4 --n 0 --k 7"), "b") == Shape{0, 7});
  CHECK(shape(made(folder, "--m 4 --n 5 --k 0"), "a_scale") == Shape{4, 0});
  CHECK(shape(made(folder, "--kind batched --groups 0 --m 4 --n 5 --k 6"), "a") == Shape{0, 4, 6});
  CHECK(shape(made(folder, "--kind k-grouped --groups 0,0 --m 4 --n 5"), "a") == Shape{4, 0});
}

TEST_CASE("the JSON answer lists what was written") {
  const Folder folder;
  const nlohmann::json json =
      answer("random " + (folder / "p.safetensors") + " --m 5 --n 6 --k 200 --seed 9");
  CHECK(json["output"] == folder / "p.safetensors");
  CHECK(json["kind"] == "1d2d");
  CHECK(json["m"] == 5);
  CHECK(json["seed"] == 9);
  CHECK(json["tensors"].size() == 4);
  CHECK(json["tensors"][0]["shape"] == nlohmann::json::array({5, 200}));
}

TEST_CASE("options that do not fit the kind are refused, and nothing is written") {
  const Folder folder;
  const std::string out = folder / "p.safetensors";
  const auto refused = [&](const std::string& options, const std::string& part) {
    refuses("random " + out + " " + options, part);
  };
  refused("--n 1 --k 1", "--m is missing");
  refused("--m 1 --k 1", "--n is missing");
  refused("--m 1 --n 1", "--k is missing");
  refused("--m -1 --n 1 --k 1", "-1 is out of range");
  refused("--m 2147483648 --n 1 --k 1", "2147483648 is out of range");
  refused("--m 1 --n 1 --k 1 --kind 2d2d", "no kind is called '2d2d'");
  refused("--m 1 --n 1 --k 1 --distribution gauss", "no distribution 'gauss'");
  refused("--m 1 --n 1 --k 1 --groups 1", "needs --kind contiguous, masked, k-grouped or batched");
  refused("--m 1 --n 1 --k 1 --max-m 1", "--max-m is given");
  refused("--kind batched --m 1 --n 1 --k 1 --with-c", "--with-c is given");
  refused("--m 1 --n 1 --k 1 --padding nan", "--padding is given; it needs --kind contiguous or masked");
  refused("--kind masked --m 1 --n 1 --k 1 --padding none", "--padding: found 'none'");
  refused("--kind masked --m 1 --n 1 --k 1 --group-ends", "--group-ends is given");
  refused("--kind masked --m 1 --n 1 --k 1 --gaps 1", "--gaps is given");
  refused("--kind contiguous --groups 1,2 --n 1 --k 1 --gaps 1,2,3,4", "--gaps has 4 numbers");
  refused("--kind contiguous --groups 1,2 --n 1 --k 1 --gaps 0,1 --group-ends", "it needs m_indices");
  refused("--kind contiguous --groups 1,2 --n 1 --k 1 --gaps 99999999", "at most 16777215 are needed");
  refused("--kind 1d1d --m 1 --n 1 --k 1 --b-block 1x128", "--b-block is given");
  refused("--kind masked --m 1 --n 1 --k 1 --b-block 64x64", "--b-block is '64x64'");
  refused("--kind contiguous --groups 1,,2 --n 1 --k 1", "--groups: '' is not a decimal integer");
  refused("--kind contiguous --groups 1,-2 --n 1 --k 1", "-2 is out of range");
  refused("--kind contiguous --groups 200,56 --m 300 --n 1 --k 1", "the groups need 384 rows");
  refused("--kind contiguous --groups 2147483647,2147483647 --n 1 --k 1", "sums to more than");
  refused("--kind masked --groups 200,0 --max-m 100 --n 1 --k 1", "a larger --max-m is needed");
  refused("--kind k-grouped --groups 200,0 --k 100 --m 1 --n 1", "sums to 200");
  refused("--kind batched --groups 1,2 --m 1 --n 1 --k 1", "needs one number");
  refused("--kind wgmma --m 65 --n 8 --k 32", "--m is 65");
  refused("--kind wgmma --n 12 --k 32", "a multiple of 8");
  refused("--kind wgmma --n 8 --k 33", "a multiple of 32");
  refuses("random " + (folder / "p.npy") + " --m 1 --n 1 --k 1", "exactly one tensor");
  refuses("random " + (folder / "none/p.safetensors") + " --m 1 --n 1 --k 1", "cannot be written");
  CHECK(std::filesystem::is_empty(folder / ""));
}
