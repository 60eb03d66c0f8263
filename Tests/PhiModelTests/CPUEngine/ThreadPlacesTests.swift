#if os(Linux)
    import CPhiKernels
    import Foundation
    import OperatingSystem
    import Synchronization
    import Testing

    @testable import PhiModel

    /// Threads that share their processors with others.
    @Suite struct ThreadPlacesTests {
        /// Waiting takes next to nothing of the processors that others want: threads that spin for each other on
        /// one processor take half as much again, or twice. In processor time, which hardly depends on who else runs.
        @Test(.enabled(if: Processors.usable > 1, "needs a second processor"))
        func waitingCostsLittleOnABusyMachine() {
            let run = BusyRun()
            // One more than there are processors: all others want all of the time.
            let count = 1 + Processors.usable
            onThreads(count, count: count) { $0 == 0 ? run.measure() : run.disturb() }
            #expect(run.helper.load(ordering: .relaxed) != 0, "the helper has done nothing")
            let ratios = run.ratios.withLock { $0.sorted() }
            #expect(ratios[ratios.count / 2] < 1.35, "times the processor time of one thread: \(ratios)")
        }

        /// A thread at work has a processor, one that sleeps has none.
        @Test func processorTimeTellsWhoHasAProcessor() throws {
            nonisolated(unsafe) let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 4)
            UnsafeMutableRawPointer(words).initializeMemory(as: UInt64.self, repeating: 0, count: 4)
            let places = ThreadPlaces(words, stride: 2)
            #expect(!places.fetch(1), "nobody is there yet")
            places.enter(0, region: 7)
            #expect(places.region(0) == 7 && places.region(1) == 0)
            #expect(!places.fetch(0), "the caller is at work")
            let (goesOn, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try WorkerThread.start("sleeper") {
                places.enter(1, region: 8)
                goesOn.wait()
                isOver.signal()
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while !places.fetch(1), ContinuousClock.now < deadline { _ = sched_yield() }
            #expect(ContinuousClock.now < deadline)
            goesOn.signal()
            isOver.wait()
            words.deallocate()
        }

        /// Where a thread may be is afterwards what it was before.
        @Test func whereThreadsMayBeStays() throws {
            func allowed() throws -> Substring? {
                try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8).split(separator: "\n")
                    .first { $0.hasPrefix("Cpus_allowed_list:") }
            }
            let before = try #require(try allowed())
            phi_leave_processor(phi_processor())
            #expect(try allowed() == before)
            phi_fetch_thread(phi_thread())
            #expect(try allowed() == before)
        }

        /// Threads keep to the memory nodes that their shares are of. Here each processor is taken as one.
        @Test(.enabled(if: Processors.usable > 1, "needs a second processor")) func threadsKeepToTheirNodes()
        {
            let here = ProcessorTopology.current
            let topology = ProcessorTopology(cores: here.cores, nodes: here.cores)
            let pool = ComputePool(threads: here.cores.count, topology: topology)
            let seen = Mutex<[Int: Set<Int32>]>([:])
            let caller = phi_thread()
            for _ in 0..<2000 {
                pool.run(here.cores.count) { index in
                    if phi_thread() != caller {
                        _ = seen.withLock { $0[Int(phi_thread()), default: []].insert(phi_processor()) }
                    }
                    for _ in 0..<100 { phi_relax() }
                }
            }
            let nodes = Set(here.cores.map { Set($0.map { Int32($0) }) })
            for (thread, processors) in seen.withLock({ $0 }) {
                #expect(nodes.contains { processors.isSubset(of: $0) }, "\(thread) was on \(processors)")
            }
            #expect(seen.withLock { !$0.isEmpty })
        }
    }

    /// Two threads of a pool that wait for each other again and again, and others that take their processors.
    private final class BusyRun: Sendable {
        let helper = Atomic<Int32>(0)
        /// Processor time of both threads over that of one that does the same work by itself.
        let ratios = Mutex<[Double]>([])
        private let isOver = Atomic<Bool>(false)

        func disturb() {
            while !isOver.load(ordering: .relaxed) { burn() }
        }

        func measure() {
            let caller = phi_thread()
            let pool = ComputePool(threads: 2, processors: 2)
            // Small pieces, so that waiting for the last one of a region is short.
            let (regions, pieces) = (2000, 64)
            for _ in 0..<7 {
                let start = time(caller)
                for _ in 0..<regions * pieces { burn() }
                let middle = time(caller)
                for _ in 0..<regions {
                    pool.runPieces(pieces, unit: 1) { some in
                        if phi_thread() != caller { helper.store(phi_thread(), ordering: .relaxed) }
                        for _ in some { burn() }
                    }
                }
                let ratio = Double(time(caller) - middle) / Double(middle - start)
                ratios.withLock { $0.append(ratio) }
            }
            isOver.store(true, ordering: .relaxed)
        }

        /// Nanoseconds of processor time of both.
        private func time(_ caller: Int32) -> Int64 {
            let helper = helper.load(ordering: .relaxed)
            return phi_thread_time(caller) + (helper == 0 ? 0 : phi_thread_time(helper))
        }

        /// About a quarter of a microsecond.
        @inline(never) private func burn() {
            for _ in 0..<10 { phi_relax() }
        }
    }
#endif
