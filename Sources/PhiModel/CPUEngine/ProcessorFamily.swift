import CPhiKernels

/// Properties of the processor, beyond its instructions, that the choice of kernels depends on.
package struct ProcessorFamily: Sendable {
    private let processor: PhiProcessor

    package init(vendor: Int, family: Int) {
        processor = PhiProcessor(vendor: UInt32(vendor), family: UInt32(family))
    }

    private init(_ processor: PhiProcessor) { self.processor = processor }

    /// This machine's.
    package static let current = ProcessorFamily(phi_this_processor())

    /// As in "AMD family 25"; nil if processors have no families.
    package var name: String? {
        switch Int(processor.vendor) {
        case Int(PHI_AMD): "AMD family \(processor.family)"
        case Int(PHI_INTEL): "Intel family \(processor.family)"
        default: processor.family > 0 ? "family \(processor.family)" : nil
        }
    }

    /// Whether `avx512-shifting` is better than `avx512`.
    package var prefersShifting: Bool { phi_ways(processor).shifts != 0 }

    /// Whether attention prefetches the next head of the KV cache.
    package var fetchesHeads: Bool { phi_ways(processor).fetches_heads != 0 }
}
