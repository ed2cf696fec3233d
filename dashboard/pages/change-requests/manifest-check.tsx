import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ChangeRequestManifest } from "../../../src/contract/manifest/wire.ts";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useManifestCheck, type Where } from "./queries.ts";

/** The problems that a merge would cause in the project's manifest; nothing if there are none or they are unknown. */
export function ManifestCheck({ where }: { where: Where }) {
  const { data } = useManifestCheck(where);
  if (!data || data.errors.length === 0) return null;
  const { path, errors } = data;
  const isWrong = errors.some(({ severity }) => severity === "error");
  return (
    <section
      aria-labelledby="manifest"
      className={`rounded-lg border-2 bg-surface p-4 ${isWrong ? "border-danger" : "border-warn"}`}
    >
      <h2 id="manifest" className="font-semibold">
        <Visible>{path}</Visible> would have {tally(errors)}
      </h2>
      <p className="text-muted">{meaning(data)}</p>
      <ManifestProblems errors={errors} />
    </section>
  );
}

function meaning({ changed, errors }: ChangeRequestManifest): string {
  const wrong = errors.filter(({ severity }) => severity === "error");
  if (wrong.some(({ path }) => path === "")) {
    return "After this merge svc cannot read the file: triggers and apps stay as they are, agents cannot merge, and pushes to the default branch are rejected.";
  }
  if (!changed) return "This does not change the file, but removes something that it refers to.";
  if (wrong.length === 0) return "svc would still use the whole file.";
  return "After this merge svc ignores the entries with errors, and uses the rest of the file.";
}
