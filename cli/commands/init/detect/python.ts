import { allOf, firstOf, LIBRARIES, type ProjectFolder, type Stack, textOf } from "./stack.ts";
import { minorOf, versionIn } from "./versions.ts";

const NEWEST = "3.13";

/** A folder that git ignores, where editors and agents look for packages. */
const VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore";

interface Tool {
  /** Whether a folder is installed with it. */
  isUsed(folder: ProjectFolder): boolean;
  /** Its file in a folder. */
  because: readonly string[];
  /** Its package; null: it is part of Python. */
  pip: string | null;
  setup(folder: ProjectFolder): string | null;
}

/** The first that is used. */
const TOOLS: readonly Tool[] = [
  {
    isUsed: ({ files }) => files.has("uv.lock"),
    because: ["uv.lock"],
    pip: "uv",
    setup: () => "uv sync --locked",
  },
  {
    isUsed: (folder) =>
      folder.files.has("poetry.lock") || /^\[tool\.poetry\]/m.test(textOf(folder, "pyproject.toml")),
    because: ["poetry.lock"],
    pip: "poetry",
    setup: () => "poetry install --no-interaction",
  },
  {
    isUsed: ({ files }) => files.has("Pipfile.lock"),
    because: ["Pipfile.lock"],
    pip: "pipenv",
    setup: () => "pipenv sync --dev",
  },
  {
    isUsed: (folder) => /^\[tool\.uv[.\]]/m.test(textOf(folder, "pyproject.toml")),
    because: [],
    pip: "uv",
    setup: () => "uv sync --frozen",
  },
  {
    isUsed: () => true,
    because: ["requirements.txt", "requirements-dev.txt", "setup.py"],
    pip: null,
    setup(folder) {
      const lists = allOf(folder, "requirements.txt", "requirements-dev.txt").map((name) => `-r ${name}`);
      // in many repositories, pyproject.toml has settings of tools only
      const isPackage =
        folder.files.has("setup.py") ||
        /^\[(?:project|build-system)\]/m.test(textOf(folder, "pyproject.toml"));
      const what = lists.length > 0 ? lists.join(" ") : isPackage ? "-e ." : null;
      return what && `${VENV} && .venv/bin/pip install ${what}`;
    },
  },
];

export const python: Stack = {
  name: "Python",
  marks: [
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "Pipfile",
    "Pipfile.lock",
    "uv.lock",
    "poetry.lock",
  ],
  reads: [".python-version"],
  find(folder) {
    const { version, from } = versionOf(folder);
    const tool = TOOLS.find(({ isUsed }) => isUsed(folder));
    const mark = firstOf(folder, ...this.marks);
    return {
      version,
      because: [...new Set(allOf(folder, "pyproject.toml", ...(tool?.because ?? []), from, mark))],
      image: [
        `COPY --from=python:${version ?? NEWEST}-bookworm /usr/local /usr/local`,
        LIBRARIES,
        ...(tool?.pip ? [`RUN pip install --no-cache-dir ${tool.pip}`] : []),
      ],
      setup: tool?.setup(folder) ?? null,
    };
  },
};

function versionOf(folder: ProjectFolder): { version: string | null; from: string | null } {
  const pinned = minorOf(textOf(folder, ".python-version"));
  if (pinned !== null) return { version: pinned, from: ".python-version" };
  const project = textOf(folder, "pyproject.toml");
  const [, range = ""] = /^(?:requires-python|python)\s*=\s*["']([^"']+)["']/m.exec(project) ?? [];
  const version = versionIn(range, true, NEWEST);
  return { version, from: version === null ? null : "pyproject.toml" };
}
