"""Ray in small: tasks run in this process, and are tried again as Ray would."""
import functools


def init():
    pass


def cluster_resources():
    return {"CPU": 1.0}


def remote(num_cpus=1, max_retries=3, retry_exceptions=False):
    def decorate(function):
        @functools.wraps(function)
        def submit(*arguments):
            for _ in range(max_retries + 1):
                try:
                    return function(*arguments), None
                except Exception as error:
                    failure = error
                    if not (retry_exceptions is True or isinstance(error, tuple(retry_exceptions or ()))):
                        break
            return None, failure
        function.remote = submit
        return function
    return decorate


def get(task):
    value, error = task
    if error:
        raise error
    return value
