import CAllocator
import Foundation

/// How many bytes the process has allocated and not freed, as soon as that stands still, to a page.
///
/// What other tasks still free from what was before is waited for. Stops the program if the allocator's
/// counts cannot be trusted: nothing allocated would look like a perfect result.
///
/// - Returns: the bytes, the allocator's own share of each block included.
func allocatedBytes() async -> Int {
  var isTrusted = countsProbe()
  for _ in 0..<500 where !isTrusted {
    // Others may be freeing much.
    try? await Task.sleep(for: .milliseconds(10))
    isTrusted = countsProbe()
  }
  precondition(isTrusted, "the allocator's counts cannot be trusted")
  var last = Int(allocated_bytes())
  var repetitions = 0
  while repetitions < 5 {
    // Nobody cancels this; were it cut short, the loop would only turn faster.
    try? await Task.sleep(for: .milliseconds(10))
    let present = Int(allocated_bytes())
    repetitions = abs(present - last) < 4096 ? repetitions + 1 : 0
    last = present
  }
  return last
}

/// Whether an allocation is counted; sometimes not, if others free at that moment.
private func countsProbe() -> Bool {
  let before = allocated_bytes()
  let probe = UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 16)
  defer { probe.deallocate() }
  return withExtendedLifetime(probe) { allocated_bytes() >= before + 100_000 }
}

/// Gives memory that was freed back to the system, so that what is resident is what is in use.
func releaseFreedMemory() { release_freed_memory() }

/// How much of the process is in memory; 0 where the system does not say so.
func residentBytes() -> Int {
  let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii)
  let pages = status?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
