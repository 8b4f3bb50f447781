#include "emulator/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

// The names that exist beside their targets right now. Fixed storage, as a signal handler may neither
// allocate nor lock.
struct Slot {
  std::atomic<bool> taken{false};  // by an AtomicFile
  std::atomic<bool> armed{false};  // `name` is complete: the handler may remove it
  std::array<char, PATH_MAX> name{};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<bool>::is_always_lock_free);

Slot& slot_at(int index) { return slots[static_cast<std::size_t>(index)]; }

std::string error_text(int error) { return std::generic_category().message(error); }

std::string descriptor_path(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

bool is_standard_output(const struct stat& target) {
  struct stat out {};
  return ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == target.st_dev && out.st_ino == target.st_ino &&
         !S_ISCHR(target.st_mode);  // /dev/null may be both
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, Keep keep) : path_(path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(errno);
    if (path.empty()) throw Error("the output file's name is empty");
    target_ = path;
    open_beside(keep, 0);
    return;
  }
  if (S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: is a directory; the name of a file is needed", path));
  if (is_standard_output(status)) {
    throw Error(
        fmt::format("{}: is this program's standard output, which carries the answer; name a file", path));
  }
  if (!S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail(errno);
    if (!S_ISBLK(status.st_mode) && ::isatty(descriptor_) != 1) return;
    ::close(descriptor_);
    throw Error(fmt::format("{}: is a {}; a file, a pipe or /dev/null is needed", path,
                            S_ISBLK(status.st_mode) ? "disk" : "terminal"));
  }
  if (::access(path.c_str(), W_OK) != 0) fail(errno);  // rename would not ask
  std::error_code error;
  target_ = std::filesystem::canonical(path, error).string();
  if (error) fail(error.value());
  open_beside(keep, status.st_mode & 0777u);
}

// Opens the unfinished file in the target's folder, so that link and rename stay within one filesystem.
void AtomicFile::open_beside(Keep keep, unsigned mode) {
  const std::string folder = folder_of(target_);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw Error(fmt::format("{}: cannot be written: its folder {}: {}", path_, folder, error_text(errno)));
  }
  if (keep == Keep::unnamed_if_possible) {
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    // A file without a name gets one through /proc; where /proc is not mounted, it never could.
    if (descriptor_ >= 0 && ::access(descriptor_path(descriptor_).c_str(), F_OK) != 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }
  if (descriptor_ < 0) {
    claim_name();
    descriptor_ = ::open(slot_at(slot_).name.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int error = errno;
    if (descriptor_ < 0) {
      drop_name();
      fail(error);
    }
  }
  if (mode != 0)
    static_cast<void>(::fchmod(descriptor_, mode));  // not ours to change on some mounts: then it stays
}

// Puts a fresh name in the target's folder on the list, before a file of that name exists.
void AtomicFile::claim_name() {
  std::random_device random;
  const std::string name =
      fmt::format("{}/.fp8twin-{}-{:08x}{:08x}.tmp", folder_of(target_), ::getpid(), random(), random());
  if (name.size() >= PATH_MAX) fail(ENAMETOOLONG);
  for (int index = 0; index < static_cast<int>(slots.size()); ++index) {
    Slot& slot = slot_at(index);
    if (slot.taken.exchange(true)) continue;
    slot_ = index;
    *std::copy(name.begin(), name.end(), slot.name.begin()) = '\0';
    slot.armed = true;
    return;
  }
  throw Error(
      fmt::format("{}: cannot be written: {} other files are being written already", path_, slots.size()));
}

void AtomicFile::drop_name() noexcept {
  if (slot_ < 0) return;
  slot_at(slot_).armed = false;
  slot_at(slot_).taken = false;
  slot_ = -1;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (slot_ >= 0) ::unlink(slot_at(slot_).name.data());
  drop_name();
}

void AtomicFile::reserve(std::size_t bytes) {
  if (target_.empty()) {
    throw Error(
        fmt::format("{}: is a pipe or a device; a file is needed, since it is written in pieces", path_));
  }
  const auto length = static_cast<off_t>(bytes);
  int error = 0;
  do {
    error = ::fallocate(descriptor_, 0, 0, length) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == EOPNOTSUPP || error == ENOSYS) error = ::ftruncate(descriptor_, length) == 0 ? 0 : errno;
  if (error != 0) fail(error);
}

std::string AtomicFile::unfinished_name() const { return slot_at(slot_).name.data(); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  const bool regular = !target_.empty();
  if (regular && slot_ < 0) {
    claim_name();
    if (::linkat(AT_FDCWD, descriptor_path(descriptor_).c_str(), AT_FDCWD, slot_at(slot_).name.data(),
                 AT_SYMLINK_FOLLOW) != 0) {
      fail(errno);
    }
  }
  // Some filesystems find out that the disk is full no earlier than here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (!regular) return;
  if (std::rename(slot_at(slot_).name.data(), target_.c_str()) != 0) fail(errno);
  drop_name();
}

void AtomicFile::fail(int error) const {
  throw Error(fmt::format("{}: cannot be written: {}", path_, error_text(error)));
}

void remove_unfinished_files() noexcept {
  for (const Slot& slot : slots) {
    if (slot.armed) ::unlink(slot.name.data());
  }
}

}  // namespace fp8twin
