import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { useMayManage } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

/** Deletes a project, after a confirmation. */
export function DeleteProject({ project }: { project: Project }) {
  const [isAsking, setIsAsking] = useState(false);
  const mayManage = useMayManage(project);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => call("DELETE", path`/projects/${project.project_id}`),
    onSuccess: async () => {
      go("/");
      queries.removeQueries({ predicate: ({ queryKey: [first] }) => first === project.project_id });
      await queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  return (
    <Section
      title="Delete the project"
      about={
        project.managed
          ? "This also deletes its repository, change requests, sessions, secrets and tokens. You cannot undo this."
          : "This also deletes its change requests, sessions, secrets and tokens. The repository on its git host does not change."
      }
      isDanger
    >
      {mayManage === false ? (
        <p className="text-muted">Only an owner or an admin of the account can delete it.</p>
      ) : (
        <Button look="danger" onClick={() => setIsAsking(true)}>
          Delete the project …
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={`Delete ${project.slug}?`}
          verb="Delete the project"
          typed={project.slug}
          action={remove}
          onConfirm={() => remove.mutate()}
          onClose={() => setIsAsking(false)}
        >
          <p>
            This deletes <Visible>{project.name}</Visible> and all of its data in svc.
            {project.managed && " svc has the only copy of its repository: clone it first to keep it."}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
