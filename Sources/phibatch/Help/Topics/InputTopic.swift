import BatchEngine
import BatchPipeline

extension HelpTopic {
    /// What the job enforces if it sets it.
    private static var others: String {
        let names = RequestSetting.all(in: .line).filter { $0.precedence == .job && $0.group == .sampling }
            .map { "`\($0.name)`" }
        return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }

    /// What a line may ask of its answer.
    static let forms = AnswerKeys.names.map { "`\($0)`" }.joined(separator: ", ")

    static let input = HelpTopic(
        "input", "the formats that prompts are read from",
        """
        `input` is a file, a pattern such as `data/*.jsonl`, a list of both, read one after another, or `-` for stdin. \
        Files that a pattern matches come in the order of their names. `input_format` says what is in them; by default \
        (`auto`) the file's name does:

        - jsonl :: A JSON object a line: `{"id": "a", "prompt": "..."}`, `{"messages": [...]}`, or any fields that the \
          templates use. So are files of any name but those below.
        - json :: One JSON array of such objects, laid out in any way; one without an id is known by its number in the \
          array. Files whose names end in `.json` and that begin with `[`.
        - openai :: A batch file of OpenAI's: `custom_id`, `method`, `url`, `body`. By default such lines are known as \
          what they are, also among others. `unsupported: ignore` answers those that ask for what can't be done here \
          without it, and counts that by name; images, tools and other parts of the question are always refused.
        - csv, tsv :: The first record names the columns, which are a line's fields, each with a name of its own. A \
          quoted field may go over several lines. Files whose names end in `.csv` or `.tsv`.
        - text :: A prompt a line. Files whose names end in `.txt`.
        - parquet :: Columns are a line's fields, also nested ones: numbers, booleans, texts, lists, structs and maps as \
          in JSON; dates and times as text (in UTC where they have a zone), bytes as text with `\\xHH` for what is not ASCII, \
          and NaN and Infinity as text. Decimals of more than 38 digits are refused. Files whose names end in `.parquet`, or that are Parquet whatever their names. It \
          needs the program duckdb (`pip install duckdb-cli`), which reads a file of any size in 100 MB.
        - arrow :: As parquet, of a file of Arrow or a stream in a file, as `save_to_disk` of Hugging Face's datasets writes \
          them. Files whose names end in `.arrow` or `.feather`, or that are Arrow whatever their names. It needs duckdb and \
          a Python with pyarrow (`pip install pyarrow`), which makes Parquet of the file, once a run and for as long as it \
          goes on, in the file's folder or else the temporary one: there must be room for it.
        - paragraphs :: A prompt may go over several lines, and ends where a line is blank. No name says so.

        An input may lie elsewhere; it is fetched before the run, once:

        - hf://datasets/ORG/NAME/SPLIT :: A split of a dataset on Hugging Face, found by its README's `configs` or by names \
          such as `data/train-*`; in the place of SPLIT a file or a pattern. NAME@REVISION is of a branch, a tag or a commit. \
          The files lie in Hugging Face's own cache; HF_TOKEN counts.
        - s3://BUCKET/KEY, gs://BUCKET/KEY :: An object, those that a pattern matches, or, with a slash at the end, all below. \
          Keys are looked for where AWS's programs do (`phibatch help environment`).
        - https://... :: What lies there. A name and a password, or a signature, are kept out of messages and files.

        A fetch that was stopped goes on where it was, if the object is still the same. Copies of objects stay in \
        `~/.cache/phibatch/inputs` until somebody removes them; they are as large as the input, which must fit there. A run \
        that goes on reads the version that its journal names, also if there is another by now; of a finished output, or \
        with `--restart`, the newest is read. `--offline` takes what was fetched before.

        A job that makes its lines has no input (`phibatch help rows`).

        Each may be packed with gzip or zstd. Text is UTF-8. Lines end in LF or CR LF, and lines that are blank count as none. An \
        input that was cut, so that it ends in half a line or within a quoted field, is an error once its whole lines are \
        done (with `--follow` half a line waits until it is whole), and so is a file of lines that end in CR alone.

        A line's `id` is text or a whole number, each once in the input; without one it is the line's number, from 1 (the names \
        of CSV's columns are line 1). \
        The setting `id` names another field for it. A line may bring `max_tokens` (up to the job's), `seed` and `stop` \
        (besides the job's). Its \(others) count where the job sets none; so do \(forms), \
        which say what its answer must be like (`phibatch help answers`).

        A line that can't be run becomes a result with an `error`, and the job goes on; `max_failures` says how many of \
        them a complete job may have. A file that is none of these formats is one error before the run.

        `--follow` reads on while the input grows: the last file at its end, and files that come to match a pattern. The \
        output is put in place whenever all lines are done, at least each minute; into `-` results leave as they come. Of \
        each file but the last, what is added comes with the next round, and into a stream not at all. Lines without an id are \
        known by their number in all files: then a file must not sort before those that are there, nor be replaced by \
        another one (rotated), which ends the run with 65. A pattern leaves out what the job itself writes. SIGINT or SIGTERM \
        ends the run, with 0 if nothing was left.

          phibatch run --model phi-4-mini --input 'queue/*.jsonl' --output answers.jsonl --follow
          phibatch run --model phi-4-mini --input prompts.csv --output answers.jsonl --prompt '{{ question }}'
          xz -dc prompts.jsonl.xz | phibatch run --model phi-4-mini --input - --output answers.jsonl
        """)
}
