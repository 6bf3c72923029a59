"""Each file is read by one rank, all ranks know the sum, and one collective is enough."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", "ValueError: Default process group")
RUNS = [
    dict(world_size=4, deadline=8),
    dict(world_size=4, machines=1, deadline=8),
    dict(world_size=2, machines=2, deadline=8),
]


def judge(run):
    returned = [rank.result for rank in run.ranks]
    read = sorted(file for files, _ in returned for file in files)
    twice = sorted({file for file in read if read.count(file) > 1})
    never = [file for file in range(12) if file not in read]
    expect.that(
        read == list(range(12)),
        "each of the 12 files to be read once",
        f"files {twice} were read more than once, files {never} never",
        hint="How many processes share the files, and which number is different on each of them?",
    )
    expect.that(
        len({len(files) for files, _ in returned}) == 1,
        "each rank to read as many files as the others",
        f"the ranks read {', '.join(str(len(files)) for files, _ in returned)} files",
        hint="A slice with a step: FILES[first::step].",
    )
    expect.that(
        all(total == 12 for _, total in returned),
        "each rank to return the number of files that all have read, 12",
        f"they returned {', '.join(str(total) for _, total in returned)}",
        hint="Keep the all_reduce: it adds up what the ranks have read.",
    )
    expect.calls(
        run, ["all_reduce"], hint="Who waits for whom in init_process_group, and in all_reduce? Is a barrier needed?"
    )
