#if os(Linux)
    import CPhiKernels
    import Foundation
    import OperatingSystem
    import struct Synchronization.Atomic
    import TestSupport
    import Testing

    @testable import PhiModel

    /// Threads that share their processors with others.
    @Suite struct ThreadPlacesTests {
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
            let deadline = ContinuousClock.now + .seconds(longestWait)
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
#endif
