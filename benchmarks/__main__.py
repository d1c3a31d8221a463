import importlib
import sys

ALL = ("attention", "transformer", "imports", "notebooks", "widgets", "tasks", "decoding", "training", "tricks")


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        sys.exit(f"no benchmark is called {unknown[0]}; there are {', '.join(ALL)}")
    for name in names or ALL:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{name}: {module.__doc__.splitlines()[0]}", flush=True)
        module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
