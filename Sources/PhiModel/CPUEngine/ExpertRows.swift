import CPhiKernels

/// A gated feed-forward network used by some of the rows.
package struct Expert: Sendable {
    /// [intermediate size, h], both
    let gate, up: Linear
    /// [h, intermediate size]
    let down: Linear
}

/// A layer's experts, all of one shape, and the router that chooses between them.
package struct ExpertLayer: Sendable {
    /// [experts, h], in float32
    let router: PackedMatrix
    let experts: [Expert]
    let mixer: SparseMixer
}

/// Computes the experts of a pass's rows. The rows of an expert are computed together, so that its weights are read
/// once a pass.
///
/// A row's scores, choice and results depend on that row alone, and its two results are added in the order of the
/// choice. So the other rows have no influence.
final class ExpertRows {
    private let matmuls: Matmuls
    private let kernels: PhiKernels
    private let pool: ComputePool

    /// The router's [rows][experts in whole blocks].
    private let scores = Buffer<Float>()
    private let choices = Buffer<ExpertChoice>()
    /// Results of one expert: [its rows][gate, then up].
    private let gateUp = Buffer<Float>()
    /// The same, activated: [its rows][intermediate size].
    private let activated = Buffer<Float>()
    /// [uses][h in whole blocks]: of all experts, in order.
    private let results = Buffer<Float>()
    private let input = MatmulInput()

    /// Each row's two uses of experts, 2 * row and 2 * row + 1, sorted by expert and then by row.
    private var uses: [Int] = []
    /// Place in `uses` of each use.
    private var places: [Int] = []
    /// Index in `uses` where each expert's begin, and the end of all.
    private var starts: [Int] = []

    init(_ matmuls: Matmuls) {
        (self.matmuls, kernels, pool) = (matmuls, matmuls.kernels, matmuls.pool)
    }

    /// out [rows][h] = the weighted sum of the results of each row's experts.
    /// - Parameters:
    ///   - rows: rows of `input`; the results come in this order.
    ///   - normed: [any rows][h]
    func run(
        _ layer: ExpertLayer, rows: [Int], of normed: UnsafePointer<Float>,
        into out: UnsafeMutablePointer<Float>
    ) throws(UserError) {
        let h = layer.router.columns
        try choose(layer, rows, normed)
        group(rows.count, layer.experts.count)
        let stride = h.rounded(up: 16)
        try results.reserve(uses.count * stride)
        for (number, expert) in layer.experts.enumerated() where starts[number] < starts[number + 1] {
            let some = uses[starts[number]..<starts[number + 1]].map { normed + rows[$0 / 2] * h }
            try run(expert, some, into: results.pointer + starts[number] * stride, stride)
        }
        let (choices, results) = (choices.pointer, UnsafePointer(results.pointer))
        pool.runRows(rows.count) { row in
            let choice = choices[row]
            let first = results + places[2 * row] * stride
            let second = results + places[2 * row + 1] * stride
            let sum = out + row * h
            // Each operation rounds once, without fused multiply-adds.
            for i in 0..<h { sum[i] = choice.firstWeight * first[i] + choice.secondWeight * second[i] }
        }
    }

    private func choose(
        _ layer: ExpertLayer, _ rows: [Int], _ normed: UnsafePointer<Float>
    ) throws(UserError) {
        let router = layer.router
        let stride = router.blocks * 16
        try scores.reserve(rows.count * stride)
        try choices.reserve(rows.count)
        let (scores, choices, layout, blocks) =
            (scores.pointer, choices.pointer, router.matrix, router.blocks)
        // Few weights that stay in cache: one row at a time is as fast as all of them.
        pool.runRows(rows.count) { row in
            let own = scores + row * stride
            withUnsafePointer(to: layout) {
                kernels.linear_plain($0, normed + rows[row] * router.columns, 1, own, stride, 0, blocks)
            }
            choices[row] = layer.mixer.choose(
                UnsafeBufferPointer(start: own, count: layer.experts.count))
        }
    }

    /// Sorts the uses of `count` rows by expert.
    private func group(_ count: Int, _ experts: Int) {
        let choices = choices.pointer
        func expert(_ use: Int) -> Int { use % 2 == 0 ? choices[use / 2].first : choices[use / 2].second }
        starts = Array(repeating: 0, count: experts + 1)
        for use in 0..<2 * count { starts[expert(use) + 1] += 1 }
        for number in 0..<experts { starts[number + 1] += starts[number] }
        uses = Array(repeating: 0, count: 2 * count)
        places = uses
        var next = starts
        for use in 0..<2 * count {
            let place = next[expert(use)]
            next[expert(use)] += 1
            uses[place] = use
            places[use] = place
        }
    }

    /// out [rows][stride] = what an expert makes of these rows.
    private func run(
        _ expert: Expert, _ rows: [UnsafePointer<Float>], into out: UnsafeMutablePointer<Float>,
        _ stride: Int
    ) throws(UserError) {
        let (inner, width) = (expert.gate.rows, expert.gate.rows + expert.up.width)
        try gateUp.reserve(rows.count * width)
        try activated.reserve(rows.count * inner)
        // The gate's padding to a whole block is overwritten by the up projection.
        for (linear, offset) in [(expert.gate, 0), (expert.up, inner)] {
            let matrix = try matmuls.weights[linear.place]
            if offset == 0 || !input.fits(matrix) {
                try input.prepare(rows: rows.count, for: matrix, keepsFloats: false)
                pool.runRows(rows.count) { input.set(row: $0, rows[$0], kernels) }
            }
            try matmuls.multiply(
                input, rows: rows.count, by: linear, into: gateUp.pointer + offset, stride: width)
        }
        try input.prepare(rows: rows.count, for: matmuls.weights[expert.down.place], keepsFloats: false)
        let (gateUp, activated) = (gateUp.pointer, activated.pointer)
        pool.runRows(rows.count) { row in
            let (gate, made) = (gateUp + row * width, activated + row * inner)
            kernels.silu_multiply(gate, gate + inner, inner, made)
            input.set(row: row, made, kernels)
        }
        try matmuls.multiply(input, rows: rows.count, by: expert.down, into: out, stride: stride)
    }
}
