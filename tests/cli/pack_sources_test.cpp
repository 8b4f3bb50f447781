// The gathering behind `pack`, without the program around it; pack_test.cpp runs the whole command.
#include "emulator/cli/pack_sources.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;
using namespace fp8twin::cli;

namespace {

constexpr std::array<std::uint8_t, 4> codes{0x38, 0x39, 0x3a, 0x3b};
constexpr std::array<float, 2> scales{0.5f, 2.0f};

/// w [2,2] with both suffixes, v [2,2] with "_scale" only, and k_sizes.
std::string write_checkpoint(const test::Folder& folder) {
  const std::array<std::int32_t, 1> sizes{2};
  const std::span<const float> both = scales;
  write_tensor_file(folder / "w.safetensors",
                    std::array{tensor_of<std::uint8_t>("w", DType::f8_e4m3, {2, 2}, codes),
                               tensor_of("w_scale_inv", DType::f32, {1, 1}, both.first(1)),
                               tensor_of("w_scale", DType::f32, {1, 1}, both.last(1)),
                               tensor_of<std::uint8_t>("v", DType::u8, {2, 2}, codes),
                               tensor_of("v_scale", DType::f32, {2, 1}, both),
                               tensor_of<std::int32_t>("sizes", DType::i32, {1}, sizes)},
                    {});
  return folder / "w.safetensors";
}

}  // namespace

TEST_CASE("a source splits at the first = and the last :") {
  const Source plain = parse_source("a=x.safetensors:w");
  CHECK(plain.key == "a");
  CHECK(plain.file == "x.safetensors");
  CHECK(plain.name == "w");
  CHECK(plain.text() == "x.safetensors:w");
  const Source odd = parse_source("b_scale=C:/a=b:c.npy:data");
  CHECK(odd.key == "b_scale");
  CHECK(odd.file == "C:/a=b:c.npy");
  CHECK(odd.name == "data");
}

TEST_CASE("a text of another form, or a key that no problem has, is refused") {
  for (const std::string text : {"", "a", "a=", "a=x", "a=x:", "a=:x", "x:y", ":=", "a:b=c"}) {
    CHECK(test::error_of([&] { parse_source(text); }).find("is not KEY=FILE:NAME") != std::string::npos);
  }
  for (const std::string key : {"d", "A", "", "a_scale_inv"}) {
    CHECK(test::error_of([&] { parse_source(key + "=x:y"); }) ==
          "pack: a problem has no tensor \"" + key +
              "\"; it has a, b, a_scale, b_scale, c, m_indices, group_ends, masked_m, k_sizes");
  }
}

TEST_CASE("codes bring their scales: _scale_inv before _scale, and a named one before both") {
  const test::Folder folder;
  const std::string file = write_checkpoint(folder);
  Packer packer;
  const auto packed = packer.gather({{"b", file, "v"}, {"a", file, "w"}, {"k_sizes", file, "sizes"}});
  REQUIRE(packed.size() == 5);
  const std::array<std::string_view, 5> names{"a", "a_scale", "b", "b_scale", "k_sizes"};
  const std::array<std::string_view, 5> from{"w", "w_scale_inv", "v", "v_scale", "sizes"};
  for (std::size_t i = 0; i < packed.size(); ++i) {
    CHECK(packed[i].tensor.name == names[i]);
    CHECK(packed[i].source.name == from[i]);
  }
  CHECK(packed[2].tensor.dtype == DType::f8_e4m3);  // U8 codes, as an npy file keeps them
  CHECK(packed[2].stored_as == DType::u8);
  CHECK(packed[1].tensor.as<float>()[0] == 0.5f);

  Packer other;
  const auto named = other.gather({{"a", file, "w"}, {"b", file, "v"}, {"a_scale", file, "w_scale"}});
  REQUIRE(named.size() == 4);
  CHECK(named[1].source.name == "w_scale");
  CHECK(named[1].tensor.as<float>()[0] == 2.0f);
}

TEST_CASE("a and b must be there, each once") {
  Packer packer;
  CHECK(test::error_of([&] { packer.gather({}); }) == "pack: a= is missing; a=FILE:NAME is needed");
  CHECK(test::error_of([&] {
          packer.gather({{"a", "x", "y"}});
        }) == "pack: b= is missing; b=FILE:NAME is needed");
  CHECK(test::error_of([&] {
          packer.gather({{"a", "x", "y"}, {"b", "x", "y"}, {"b", "x", "z"}});
        }) == "pack: b= is given twice; once is needed");
}
