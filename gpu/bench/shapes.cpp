#include "gpu/bench/shapes.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "emulator/support/error.hpp"

namespace fp8twin::bench {
namespace {

constexpr std::array<Figure, 20> published = {{
    {{64, 2112, 7168}, 10.0, 194, 22.1, 88, 2.21},
    {{64, 24576, 1536}, 16.3, 296, 18.1, 267, 1.11},
    {{64, 32768, 512}, 8.9, 242, 10.3, 208, 1.16},
    {{64, 7168, 16384}, 40.0, 376, 51.2, 293, 1.28},
    {{64, 4096, 7168}, 13.5, 277, 22.9, 164, 1.70},
    {{64, 7168, 2048}, 7.8, 239, 9.9, 189, 1.27},
    {{128, 2112, 7168}, 10.8, 358, 22.4, 173, 2.07},
    {{128, 24576, 1536}, 17.1, 565, 18.2, 530, 1.06},
    {{128, 32768, 512}, 10.4, 414, 11.0, 392, 1.06},
    {{128, 7168, 16384}, 43.4, 692, 51.6, 582, 1.19},
    {{128, 4096, 7168}, 13.8, 544, 23.1, 325, 1.67},
    {{128, 7168, 2048}, 9.2, 411, 10.2, 370, 1.11},
    {{4096, 2112, 7168}, 94.7, 1309, 110.7, 1120, 1.17},
    {{4096, 24576, 1536}, 230.5, 1342, 261.0, 1185, 1.13},
    {{4096, 32768, 512}, 128.4, 1071, 162.2, 847, 1.26},
    {{4096, 7168, 16384}, 648.8, 1483, 721.4, 1334, 1.11},
    {{4096, 4096, 7168}, 165.3, 1455, 181.6, 1325, 1.10},
    {{4096, 7168, 2048}, 90.7, 1325, 102.2, 1177, 1.13},
    {{4096, 4096, 4096}, 98.1, 1400, 108.9, 1262, 1.11},
    {{8192, 8192, 8192}, 750.8, 1464, 817.4, 1345, 1.09},
}};

constexpr std::size_t layers = 6;  // the pairs (N, K) that every M has

double blocks_of(i64 extent) {
  const i64 blocks = (extent + 127) / 128;
  return static_cast<double>(blocks);
}

/// Of M, N and K: what a launch takes, less a tile (gpu/launch/plan.cpp).
constexpr i64 most_extent = 2'147'479'551;

/// Takes a number off the front of `text`, and the character `end` behind it where that is not 0.
i64 take_number(std::string_view& text, char end, std::string_view whole) {
  i64 value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool ended =
      end == 0 ? rest == text.data() + text.size() : rest < text.data() + text.size() && *rest == end;
  if (error != std::errc() || !ended || value < 1 || value > most_extent) {
    throw Error(fmt::format("shapes are written M,N,K;M,N,K with numbers from 1 to {}; found '{}'",
                            most_extent, whole));
  }
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + (end ? 1 : 0));
  return value;
}

}  // namespace

std::string Shape::name() const { return fmt::format("{}x{}x{}", m, n, k); }

double Shape::bytes() const {
  const double rows = static_cast<double>(m), columns = static_cast<double>(n),
               depth = static_cast<double>(k);
  return rows * depth + columns * depth + 2 * rows * columns + 4 * blocks_of(k) * (rows + blocks_of(n));
}

std::span<const Figure> figures() { return published; }

std::optional<Figure> figure_of(const Shape& shape) {
  for (const Figure& figure : published) {
    if (figure.shape == shape) return figure;
  }
  return std::nullopt;
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  shapes.reserve(published.size() + 4 * layers);
  for (const Figure& figure : published) shapes.push_back(figure.shape);
  for (const i64 m : {1, 8, 16, 32}) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      shapes.push_back({m, published[layer].shape.n, published[layer].shape.k});
    }
  }
  return shapes;
}

std::vector<Shape> parse_shapes(std::string_view text) {
  std::vector<Shape> shapes;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    Shape shape;
    shape.m = take_number(one, ',', text);
    shape.n = take_number(one, ',', text);
    shape.k = take_number(one, 0, text);
    shapes.push_back(shape);
  }
  if (shapes.empty()) throw Error("no shape was given: needed is M,N,K;M,N,K");
  return shapes;
}

}  // namespace fp8twin::bench
