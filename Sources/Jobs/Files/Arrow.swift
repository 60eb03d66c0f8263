import Essentials
import OperatingSystem
import Synchronization

/// Python with pyarrow, which makes Parquet of Arrow files and the other way round; DuckDB's program has no Arrow. As that
/// one it has files as its input and its output.
enum Arrow {
    private static let found = Result { () throws(DuckDB.Fault) in try findPython() }

    /// The place of a Python that has pyarrow.
    /// - Throws: `DuckDB.Fault`, which says how to get it.
    static func python() throws(DuckDB.Fault) -> String { try found.get() }

    private static func findPython() throws(DuckDB.Fault) -> String {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { _ = close(nothing) }
        if let named = ProgramCall.path(inVariable: "PHIBATCH_PYTHON") {
            do throws(DuckDB.Fault) { try run("", by: named, nothing) } catch {
                throw DuckDB.Fault(
                    what:
                        "needs pyarrow in the Python that PHIBATCH_PYTHON names, \(named) (pip install pyarrow). A trial \(error.what)"
                )
            }
            return named
        }
        var folders = (ProgramCall.path(inVariable: "PATH") ?? "").split(separator: ":").map(String.init)
        // Beside the Python package that this program is part of: BASE/lib/python3.N/site-packages/phibatch/bin/phibatch.
        let site = ProgramCall.executable.map { Paths.folder(of: Paths.folder(of: Paths.folder(of: $0))) }
        if let site, Files.kind(of: site + "/pyarrow") == .folder {
            folders.insert(site + "/../../../bin", at: 0)
        }
        for path in folders.map({ $0 + "/python3" })
        where Files.kind(of: path) == .regular && access(path.cPath, X_OK) == 0 {
            if (try? run("", by: path, nothing)) != nil { return path }
        }
        throw DuckDB.Fault(
            what:
                "needs Python with pyarrow, and no python3 on PATH has it. Install it (pip install pyarrow), or name a Python that has it by PHIBATCH_PYTHON."
        )
    }

    private static func run(
        _ way: String, by python: String, _ input: Int32, _ output: Int32? = nil
    ) throws(DuckDB.Fault) {
        let child = try DuckDB.start(python, ["-c", script, way], input: input, output: output)
        try DuckDB.finish(child, "pyarrow")
    }

    private static let made = Mutex<[(source: FileState, table: Int32)]>([])

    /// Parquet with the rows of an Arrow file. It is made once in a process, in a file without a name, which is gone with the
    /// process however it ends.
    /// - Parameter path: the file's, whose folder takes the new one if it can.
    static func parquet(of file: Int32, at path: String) throws(DuckDB.Fault) -> Int32 {
        var status = stat()
        _ = fstat(file, &status)
        let state = FileState(status)
        return try made.withLock { made throws(DuckDB.Fault) in
            if let known = made.first(where: { $0.source == state }) { return known.table }
            let table = try scratch(for: path)
            try run("in", by: python(), file, table.descriptor)
            let kept = fcntl(table.descriptor, F_DUPFD_CLOEXEC, 0)
            made.append((state, kept))
            return kept
        }
    }

    /// Makes an Arrow file by what makes a Parquet file in its place.
    static func write(
        to output: Int32, at path: String, _ makeParquet: (Int32) throws(DuckDB.Fault) -> Void
    ) throws(DuckDB.Fault) {
        let table = try scratch(for: path)
        try makeParquet(table.descriptor)
        try run("out", by: python(), table.descriptor, output)
    }

    private static func scratch(for path: String) throws(DuckDB.Fault) -> File {
        do {
            return try File.scratch(for: path, POSIXFileSystem())
        } catch {
            throw DuckDB.Fault(what: "is Arrow, and takes a file for a while that can't be made: \(error)")
        }
    }

    /// Batch by batch. What is mapped and was read is given back, so that memory stays flat however large a batch is.
    private static let script = #"""
        import mmap, os, sys

        sys.path = [place for place in sys.path if place]
        try:
            import pyarrow
            from pyarrow import ipc, parquet
        except ImportError as error:
            sys.exit(f"ImportError: {error}")

        ROOM = 32 << 20

        def batches(source, size):
            start = source.read(6)
            source.seek(max(0, size - 8))
            end = source.read()
            source.seek(0)
            if start == b"ARROW1":
                if not end.endswith(start):
                    raise ValueError("it does not end as it begins, with ARROW1: it was cut")
                reader = ipc.open_file(source)
                return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
            if not start.startswith(b"\xff\xff\xff\xff"):
                raise ValueError("it is no Arrow file")
            if end != b"\xff\xff\xff\xff\0\0\0\0":
                raise ValueError("the mark at its end is missing: it was cut, or is still being written")
            reader = ipc.open_stream(source)
            return reader.schema, streamed(reader, source, size)

        def streamed(reader, source, size):
            yield from reader
            if source.tell() != size:
                raise ValueError("it goes on after its end; one stream is read, not several in one file")

        def groups(made):
            held, size = [], 0
            for batch in made:
                step = max(1, batch.num_rows * ROOM // max(1, batch.nbytes))
                for start in range(0, batch.num_rows, step):
                    held.append(batch.slice(start, step))
                    size += held[-1].nbytes
                    if size >= ROOM:
                        yield held
                        held, size = [], 0
            if held:
                yield held

        def read(output):
            mapped = mmap.mmap(0, 0, access=mmap.ACCESS_READ)
            schema, made = batches(pyarrow.BufferReader(pyarrow.py_buffer(mapped)), len(mapped))
            how = {"use_dictionary": False, "store_schema": False, "write_statistics": False}
            with parquet.ParquetWriter(output, schema, **how) as writer:
                for held in groups(made):
                    writer.write_table(pyarrow.Table.from_batches(held, schema))
                    mapped.madvise(mmap.MADV_DONTNEED)

        def write(output):
            source = parquet.ParquetFile(pyarrow.OSFile("/dev/fd/0"))
            with ipc.new_file(output, source.schema_arrow) as writer:
                for group in range(source.num_row_groups):
                    writer.write_table(source.read_row_group(group))

        try:
            if sys.argv[1]:
                with os.fdopen(1, "wb") as output:
                    {"in": read, "out": write}[sys.argv[1]](output)
        except Exception as error:
            words = str(error).split("\n")[0].rstrip(".")
            sys.exit(f"{type(error).__name__}: {words}" if "Error" in type(error).__name__ else f"Error: {words}")
        """#
}
