import BatchEngine
import Testing

@testable import PhiModel

struct AttentionPlanTests {
    private func run(_ blocks: [Int32], start: Int, rows: Int) -> RowRun {
        RowRun(
            tokens: Array(repeating: 1, count: rows)[...], start: start, blocks: blocks, longRope: false,
            logitRows: 1)
    }

    @Test func everyRowAttendsOnceAndSharesWhatItHas() {
        let runs = [
            run([1, 2, 9], start: 150, rows: 1), run([7, 8], start: 70, rows: 1),
            run([1, 2, 5], start: 130, rows: 20), run([1, 2, 5, 6], start: 200, rows: 1),
            run([1, 3], start: 90, rows: 1),
        ]
        let plan = AttentionPlan(runs, queries: 4)
        #expect(plan.rows.map(\.row).sorted() == Array(0..<24))
        #expect(plan.tiles.flatMap { Array($0.rows) } == Array(0..<24))
        for row in plan.rows {
            #expect(row.position >= runs[row.run].start)
        }
        for tile in plan.tiles {
            let lists = plan.rows[tile.rows].map { runs[$0.run].blocks }
            #expect(Set(lists.map { Array($0.prefix(tile.shared)) }).count == 1)
            #expect(tile.rows.count <= 16)
            // The one that has nothing in common with others is alone.
            if lists.contains([7, 8]) { #expect(lists.count == 1) }
        }
    }

    @Test func aCommonBeginningIsReadOnceForAll() {
        let runs = (0..<10).map { run([1, 2, 3, Int32(10 + $0)], start: 200, rows: 1) }
        let plan = AttentionPlan(runs, queries: 4)
        #expect(plan.tiles.count == 1)
        #expect(plan.tiles.first?.shared == 3)
    }
}
