extension HelpTopic {
    static let environment = HelpTopic(
        "environment", "variables that count",
        """
        - PHIBATCH_CACHE :: The folder where weights are kept as the processor reads them, models that had to be \
        converted, and the beginnings that prompts share (`kv_cache`), so that the next start is quick; `off` keeps \
        none. What was not used for longest goes first, and 1 GB of the disk is left free. By default it is \
        `phibatch` in XDG_CACHE_HOME, else `~/.cache/phibatch` (`~/Library/Caches/phibatch` on macOS). It may be \
        removed at any time, but for `outputs` in it while a run is not complete.
        - PHIBATCH_KERNELS :: The instruction set to use, one of those that `phibatch doctor` lists. Results are the same \
        with each.
        - PHIBATCH_MLX :: Where MLX lies for `engine: mlx`, if not beside the program: a folder that `make mlx` made.
        - HF_HOME, HF_HUB_CACHE :: Where Hugging Face's programs keep models and datasets; so does phibatch. By default \
        `~/.cache/huggingface/hub`.
        - HF_TOKEN, HF_TOKEN_PATH :: The token for models and datasets that are not public, or the file that holds it.
        - HF_ENDPOINT :: Another address than `https://huggingface.co`, such as a mirror's.
        - HF_HUB_OFFLINE :: 1: nothing is fetched, as with `--offline`.
        - AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN :: The key for `s3://`; else that of the profile \
        AWS_PROFILE in `~/.aws/credentials` or `~/.aws/config` (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE), which may \
        also be what `credential_process` prints, a role by single sign-on (`aws sso login`), or one (`role_arn`) that STS \
        gives for the key of `source_profile` or `credential_source`.
        - AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN :: A role's key, as on Kubernetes.
        - AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_CREDENTIALS_FULL_URI :: As in Amazon's containers. At last a \
        machine on EC2 is asked, for a second, unless AWS_EC2_METADATA_DISABLED is `true`. Without any key requests are not \
        signed, as public buckets take them.
        - AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL :: The bucket's region, and another store than \
        Amazon's.
        - GS_ACCESS_KEY_ID, GS_SECRET_ACCESS_KEY :: An HMAC key for `gs://`; or a token in GOOGLE_OAUTH_ACCESS_TOKEN or \
        CLOUDSDK_AUTH_ACCESS_TOKEN.
        - GOOGLE_APPLICATION_CREDENTIALS :: A file of the type `authorized_user`, such as \
        `gcloud auth application-default login` leaves where it is looked for (CLOUDSDK_CONFIG), or `service_account`, for \
        which the program openssl signs, or `external_account`, whose token of another provider is in a file or at an address. \
        Else a machine of Google's is asked, for a second, unless NO_GCE_CHECK is `true`.
        - PHIBATCH_OUTPUTS :: The folder where outputs that go to `s3://` or `gs://` are made first; by default `outputs` in the \
        cache.
        - HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY :: The proxy to reach the network through, and what needs none.
        - REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR :: CA certificates in place of the system's, a \
        file or a folder; the first that is set counts.
        - PHIBATCH_CURL :: The libcurl to fetch with, if the system does not find it by itself.
        - PHIBATCH_API_KEY :: A key that opens `phibatch serve`.
        - PHIBATCH_MICROHTTPD :: The libmicrohttpd to serve with, if the system does not find it by itself.
        - PHIBATCH_ZSTD :: The libzstd to pack and unpack with, if the system does not find it by itself.
        - PHIBATCH_READLINE :: The libreadline or libedit that edits lines of a chat, likewise.
        - PHIBATCH_DUCKDB, PATH :: The program duckdb that reads and writes Parquet, or where it is looked for.
        - PHIBATCH_PYTHON, PATH :: The Python with pyarrow that reads and writes Arrow files, or where it is looked for.
        - XDG_CACHE_HOME, HOME :: Where caches lie if the variables above don't say.
        - SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT :: What `shard: auto` takes, from Slurm.
        - JOB_COMPLETION_INDEX, JOB_COMPLETIONS :: The same, from Kubernetes.
        - COLUMNS :: How wide the help is.
        - TERM :: `dumb` means that nothing is drawn over.
        """)
}
