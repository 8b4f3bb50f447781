#include "emulator/mpi/share_gemm.hpp"

#include <algorithm>
#include <vector>

namespace fp8twin::mpi {
namespace {

/// The rectangle in pieces of whole rows.
std::vector<Rectangle> bands_of(const Rectangle& whole) {
  const std::int64_t rows = std::max(band_outputs / whole.columns / share_rows * share_rows, share_rows);
  std::vector<Rectangle> bands;
  for (std::int64_t row = 0; row < whole.rows; row += rows) {
    Rectangle band = whole;
    band.row += row;
    band.rows = std::min(rows, whole.rows - row);
    bands.push_back(band);
  }
  return bands;
}

}  // namespace

void compute_share(std::span<const GemmSlice> slices, const Share& share, const Placement& d,
                   const GemmOptions& options, SharedOutput& file, const std::function<void(double)>& done) {
  const auto size = static_cast<std::int64_t>(dtype_size(d.output));
  std::vector<std::byte> buffer;
  double before = 0;
  for (const Rectangle& whole : share) {
    for (const Rectangle& band : bands_of(whole)) {
      const Part part = part_of(slices[band.slice], band);
      const double work = work_of(slices[band.slice], band);
      GemmOptions with_progress = options;
      with_progress.progress = [&](std::int64_t tiles, std::int64_t of) {
        done(before + work * static_cast<double>(tiles) / static_cast<double>(of));
      };
      buffer.resize(static_cast<std::size_t>(band.rows * band.columns * size));
      gemm_slice(part.slice, d.output, buffer.data(), band.columns, with_progress);
      file.write_rows(buffer, band.rows, d.begin + part.slice.d_offset * size, d.n * size);
      before += work;
      done(before);
    }
  }
}

}  // namespace fp8twin::mpi
