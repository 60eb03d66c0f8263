extension HelpTopic {
    static let templates = HelpTopic(
        "templates", "prompts made of a line's fields",
        """
        `system`, `prompt`, `prefix` and the texts of `messages` are templates in Jinja, as chat templates are. What \
        they name are the fields of the input's line. For lines like `{"question": "Why?", "topic": "rain"}`:

          prompt: "{% if topic %}This is about {{ topic }}. {% endif %}{{ question }}"

        Without a `prompt` it is `{{ prompt }}`, the line's own. A field that is missing or null is false in a \
        condition; to write one is an error of that line (`template_error`) that lists the fields there are. \
        `phibatch check JOB` shows the first prompts as the model would see them.

        `prompt_file` takes the template from a file. `messages` puts others before the line's own, such as examples; \
        as an option each is `--messages user=TEXT` or `--messages assistant=TEXT`:

          messages:
            - {role: user, content: "Is this a question? It rains."}
            - {role: assistant, content: "no"}

        `prefix` is the beginning of the answer; the model goes on from it, and the result's `text` holds what \
        follows. A line may have `messages` (a list of objects with `role` and `content`) in place of a prompt, or \
        token ids in `prompt`.

        Texts such as `<|end|>` in a line's fields stay text, so that data forges no turn; `control_tokens: parse` \
        makes special tokens of them. `chat: false` gives the prompt to the model as it is, without its chat template.
        """)
}
