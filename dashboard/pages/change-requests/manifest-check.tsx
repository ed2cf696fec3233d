import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ChangeRequestManifest } from "../../../src/contract/manifest/wire.ts";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useManifestCheck, type Where } from "./queries.ts";

/**
 * What a merge would change in the project's manifest: the apps that it opens to the public, and the problems that it
 * would cause; nothing if there are none or they are unknown.
 */
export function ManifestCheck({ where }: { where: Where }) {
  const { data } = useManifestCheck(where);
  if (!data) return null;
  return (
    <>
      <OpenedApps {...data} />
      <Problems {...data} />
    </>
  );
}

function OpenedApps({ opens }: ChangeRequestManifest) {
  if (opens.length === 0) return null;
  return (
    <Notice kind="warning">
      {opens.map((slug) => (
        <p key={slug}>
          Merging makes the app <Visible>{`"${slug}"`}</Visible> public.
        </p>
      ))}
      <p>Everybody who has the address can open it then, without signing in.</p>
    </Notice>
  );
}

function Problems(check: ChangeRequestManifest) {
  const { path, errors } = check;
  if (errors.length === 0) return null;
  const isWrong = errors.some(({ severity }) => severity === "error");
  return (
    <section
      aria-labelledby="manifest"
      className={`rounded-lg border-2 bg-surface p-4 ${isWrong ? "border-danger" : "border-warn"}`}
    >
      <h2 id="manifest" className="font-semibold">
        <Visible>{path}</Visible> would have {tally(errors)}
      </h2>
      <p className="text-muted">{meaning(check)}</p>
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
