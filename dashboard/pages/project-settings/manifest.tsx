import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ProjectManifest } from "../../../src/contract/manifest/wire.ts";
import type { Project } from "../../../src/contract/project.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The problems of the manifest on the default branch; nothing if it is valid or cannot be read. */
export function Manifest({ project }: { project: Project }) {
  const { data } = useGet<ProjectManifest>(
    // pushes, merges and edits of the project change it
    [project.project_id, "branch", "manifest", project.updated_at],
    path`/projects/${project.project_id}/manifest`,
  );
  if (!data || data.errors.length === 0) return null;
  return (
    <Section
      title="Manifest"
      about={
        <>
          <Visible>{data.path}</Visible> on <Visible>{project.default_branch}</Visible> configures the
          project. svc ignores entries with errors.
        </>
      }
    >
      <p className="font-medium">It has {tally(data.errors)}</p>
      <ManifestProblems errors={data.errors} />
      <p className="mt-3 text-muted text-sm">
        Fix it and merge the change. <code>svc validate</code> checks the file on your machine.
      </p>
    </Section>
  );
}
