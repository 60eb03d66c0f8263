extension HelpTopic {
    static let tools = HelpTopic(
        "tools", "answers that call functions",
        """
        `tools` are functions that the model may call, as in OpenAI's API: in a job a file or the list itself, in a line \
        the list. The model is told of them: Phi-4-mini in its own form, others in the system message.

          [{"type": "function", "function": {"name": "weather", "description": "The weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]

        What an answer calls is in its `tool_calls`, a list of objects with `id`, and `function`, which has a `name` and \
        `arguments`, a JSON object as text; the finish reason is then `tool_calls`. What it says before is in `text`. \
        Each call names one of the tools, and its arguments follow that one's schema: masks see to it, as with `schema`, \
        and nothing is cut. The same job gives the same ids.

        - tool_choice :: `auto`, the default: the model answers in words or with calls, as it likes. `required`: with \
        calls. `none`: in words. The name of a tool: with one call of that.
        - max_tool_calls :: The most calls of an answer; by default there is no limit.

        What calls gave goes back as OpenAI's API has it: a message of the assistant with `tool_calls`, and for each of \
        them one of the role tool. Batch files of chat completions and responses may have all that; other tools than \
        functions are refused. A table has a column for calls if the job itself has the tools.

        Beside `tools` there may be another form, such as `schema` or `response_format`: an answer is then calls and \
        nothing else, or follows that form. As in OpenAI's API the form stands alone with `none`, and counts for nothing \
        with `required` or a name. With tools alone `stop` may end what is said in words; calls are never cut. \
        `tools` don't go with `choices`.

          phibatch run jobs/orders.yaml --tools tools.json --tool-choice required
        """)
}
