#include "emulator/mpi/shared_output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "emulator/support/error.hpp"

namespace fp8twin::mpi {

SharedOutput::SharedOutput(std::string path, const std::string& unfinished) : path_(std::move(path)) {
  descriptor_ = ::open(unfinished.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0 && errno == ENOENT) {
    throw Error(fmt::format(
        "{}: is not seen from here; needed is a folder on a file system that all ranks share", path_));
  }
  if (descriptor_ < 0) fail(errno);
}

SharedOutput::~SharedOutput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedOutput::write_rows(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t offset,
                              std::int64_t stride) {
  if (bytes.empty()) return;
  const std::size_t row_size = bytes.size() / static_cast<std::size_t>(rows);
  if (static_cast<std::size_t>(stride) == row_size) return write_at(bytes, offset);
  for (std::int64_t row = 0; row < rows; ++row)
    write_at(bytes.subspan(static_cast<std::size_t>(row) * row_size, row_size), offset + row * stride);
}

void SharedOutput::write_at(std::span<const std::byte> bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

void SharedOutput::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void SharedOutput::fail(int error) const {
  throw Error(fmt::format("{}: cannot be written: {}", path_, std::generic_category().message(error)));
}

}  // namespace fp8twin::mpi
