import Foundation

/// libFuzzer's own main loop (https://llvm.org/docs/LibFuzzer.html), which `make fuzz` links.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Fuzzes the target that `PHIBATCH_FUZZ_TARGET` names; the arguments are libFuzzer's.
@main enum Driver {
    // libFuzzer calls back with nothing but bytes, always on this thread.
    nonisolated(unsafe) private static var current: (target: FuzzTarget, scratch: ScratchFolder)?

    static func main() throws {
        let name = ProcessInfo.processInfo.environment["PHIBATCH_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget.named(name) else {
            let names = FuzzTarget.all.map(\.name).joined(separator: " ")
            print("set PHIBATCH_FUZZ_TARGET to one of: \(names)")
            exit(64)
        }
        current = (target, try ScratchFolder())
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        let code = runDriver(&count, &arguments) { bytes, count in
            guard let (target, scratch) = Driver.current else { return 0 }
            do {
                try target.run(Array(UnsafeBufferPointer(start: bytes, count: count)), scratch)
            } catch {
                fatalError("\(target.name): \(error)")
            }
            return 0
        }
        current = nil
        exit(code)
    }
}
