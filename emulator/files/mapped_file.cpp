#include "emulator/files/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  if (path.empty()) throw Error("the input file's name is empty");
  // O_NONBLOCK: opening a named pipe must not wait for its writer; it is refused below like all that is no
  // file.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(path, errno);
  struct stat status {};
  const int failed = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (failed || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    if (failed) refuse(path, failed);
    throw Error(fmt::format("{}: is a {}; a regular file is needed, since it is read by memory map", path,
                            S_ISDIR(status.st_mode) ? "directory" : "pipe or device"));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {  // mmap refuses a length of zero
    void* const map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error = errno;
    if (map == MAP_FAILED) {
      ::close(descriptor);
      refuse(path, error);
    }
    data_ = static_cast<const std::byte*>(map);
  }
  ::close(descriptor);  // the map keeps the file
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace fp8twin
