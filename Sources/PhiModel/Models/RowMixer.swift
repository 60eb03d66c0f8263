import BatchEngine
import CPhiKernels

/// Operation over positions that one architecture has in place of attention, with its weights. Its type stands beside
/// the architecture, which names it in a layer; the size of its state, if it has one, is in `ModelShape.stateWidths`.
package protocol RowMixer {
    /// Floats of a row's results.
    var width: Int { get }
    /// out [rows][width] = its results.
    func run(_ rows: MixerRows, into out: UnsafeMutablePointer<Float>) throws(UserError)
}

/// Rows of a pass for a mixer.
package struct MixerRows {
    /// [rows][stride]: the last product's results.
    let values: UnsafePointer<Float>
    let stride: Int
    let runs: [RowRun]
    /// Index of each row among the pass's.
    let numbers: [Int]
    let kernels: PhiKernels
    let pool: ComputePool
    /// Returns room for `count` floats. A model's mixers share it by its number, and its content stays while no more
    /// room is asked for.
    let memory: (_ number: Int, _ count: Int) throws(UserError) -> UnsafeMutablePointer<Float>
    /// Returns the layer's state after a run's block.
    let state: (RowRun, Int) -> UnsafeMutablePointer<Float>
    /// Computes attention of rows of queries, keys and values in the cache's shape: [rows][stride] to [rows][heads *
    /// head dimension]; with another layer's keys and values the rows have queries alone.
    let attend:
        (UnsafeMutablePointer<Float>, _ stride: Int, UnsafeMutablePointer<Float>, _ other: Int?) -> Void

    var count: Int { numbers.count }
}
