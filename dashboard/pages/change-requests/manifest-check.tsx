import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ChangeRequestManifest } from "../../../src/contract/manifest/wire.ts";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useManifestCheck, type Where } from "./queries.ts";

/** What a merge would break of the project's manifest; nothing where it breaks none, or where nobody can tell. */
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
      <ManifestProblems label="Problems of the manifest" errors={errors} />
    </section>
  );
}

function meaning({ changed, errors }: ChangeRequestManifest): string {
  const wrong = errors.filter(({ severity }) => severity === "error");
  if (wrong.some(({ path }) => path === "")) {
    return "It could not be read once this is merged: triggers and apps would stay as they are, and neither could agents merge nor anybody push to the default branch.";
  }
  if (!changed) return "This does not change the file itself, but takes away what it names.";
  if (wrong.length === 0) return "The file would count all the same.";
  return "What has an error would not count once this is merged; the rest of the file would.";
}
