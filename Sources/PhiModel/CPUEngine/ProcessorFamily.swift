import CPhiKernels

/// The processor as far as the choice between kernels depends on more than its instructions.
package struct ProcessorFamily: Sendable {
    private let processor: PhiProcessor

    package init(vendor: Int, family: Int) {
        processor = PhiProcessor(vendor: UInt32(vendor), family: UInt32(family))
    }

    private init(_ processor: PhiProcessor) { self.processor = processor }

    /// This machine's.
    package static let current = ProcessorFamily(phi_this_processor())

    /// As in "AMD family 25"; nil where processors have no families.
    package var name: String? {
        switch Int(processor.vendor) {
        case Int(PHI_AMD): "AMD family \(processor.family)"
        case Int(PHI_INTEL): "Intel family \(processor.family)"
        default: processor.family > 0 ? "family \(processor.family)" : nil
        }
    }

    /// Whether `avx512-shifting` is a better choice than `avx512`.
    package var prefersShifting: Bool { phi_ways(processor).shifts != 0 }

    /// Whether attention fetches the KV cache a head ahead by instructions of its own.
    package var fetchesHeads: Bool { phi_ways(processor).fetches_heads != 0 }
}
