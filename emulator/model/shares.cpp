#include "emulator/model/shares.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fp8twin {
namespace {

/// Where to cut `extent` so that about `fraction` of it lies before: the nearest multiple of `step`, or an end.
std::int64_t cut_at(std::int64_t extent, std::int64_t step, double fraction) {
  const double wanted = fraction * static_cast<double>(extent);
  const std::int64_t below = static_cast<std::int64_t>(wanted) / step * step,
                     above = std::min(below + step, extent);
  return wanted - static_cast<double>(below) < static_cast<double>(above) - wanted ? below : above;
}

/// The two sides of a rectangle; either may be empty.
std::pair<Rectangle, Rectangle> cut(const Rectangle& whole, double fraction) {
  const bool rows_can = whole.rows > share_rows, columns_can = whole.columns > share_columns;
  Rectangle front = whole, back = whole;
  if (rows_can && (whole.rows >= whole.columns || !columns_can)) {
    front.rows = cut_at(whole.rows, share_rows, fraction);
    back.row += front.rows;
    back.rows -= front.rows;
  } else {
    front.columns = cut_at(whole.columns, share_columns, fraction);
    back.column += front.columns;
    back.columns -= front.columns;
  }
  return {front, back};
}

bool empty(const Rectangle& r) { return r.rows == 0 || r.columns == 0; }

class Splitter {
 public:
  Splitter(std::span<const GemmSlice> slices, int workers)
      : slices_(slices), shares_(static_cast<std::size_t>(workers)) {}

  /// Gives `list` to the workers [first, first + workers).
  void split(Share list, std::size_t first, std::size_t workers) {
    if (workers == 1) {
      shares_[first] = std::move(list);
      return;
    }
    const std::size_t before = workers / 2;
    double room = 0;
    for (const Rectangle& r : list) room += work(r);
    room *= static_cast<double>(before) / static_cast<double>(workers);
    Share front, back;
    for (const Rectangle& r : list) {
      if (back.empty() && work(r) <= room) {
        room -= work(r);
        front.push_back(r);
        continue;
      }
      const auto [here, there] = back.empty() ? cut(r, room / work(r)) : std::pair(Rectangle{}, r);
      if (!empty(here)) front.push_back(here);
      if (!empty(there)) back.push_back(there);
      room = 0;
    }
    split(std::move(front), first, before);
    split(std::move(back), first + before, workers - before);
  }

  std::vector<Share> take() { return std::move(shares_); }

 private:
  double work(const Rectangle& r) const { return work_of(slices_[r.slice], r); }

  std::span<const GemmSlice> slices_;
  std::vector<Share> shares_;
};

}  // namespace

double work_of(const GemmSlice& slice, const Rectangle& r) {
  return static_cast<double>(r.rows) * static_cast<double>(r.columns) * static_cast<double>(slice.k + 1);
}

std::vector<Share> shares(std::span<const GemmSlice> slices, int workers) {
  Share all;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Rectangle whole{i, 0, slices[i].m, 0, slices[i].n};
    if (!empty(whole)) all.push_back(whole);
  }
  Splitter splitter(slices, std::max(workers, 1));
  splitter.split(std::move(all), 0, static_cast<std::size_t>(std::max(workers, 1)));
  return splitter.take();
}

Part part_of(const GemmSlice& slice, const Rectangle& r) {
  Part part{slice, {}};
  GemmSlice& s = part.slice;
  s.m = r.rows;
  s.n = r.columns;
  s.a += r.row * s.lda;
  s.b += r.column * s.ldb;
  if (s.a_scale) {
    s.a_scale += r.row * s.a_scale_stride;
    s.b_scale += r.column / s.b_scale_rows * s.b_scale_stride;
  }
  s.d_offset += r.row * slice.n + r.column;
  if (!s.c) return part;
  s.c += r.row * slice.n + r.column;
  if (r.columns == slice.n) return part;
  for (std::int64_t row = 0; row < r.rows; ++row)
    part.c.insert(part.c.end(), s.c + row * slice.n, s.c + row * slice.n + r.columns);
  s.c = part.c.data();
  return part;
}

}  // namespace fp8twin
