import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Upstreams } from "./upstreams.tsx";

/** The upstreams that run a project's models. Owners and admins add some with the project's own key. */
export function Models() {
  const project = useProject();
  return (
    <Upstreams
      of="project"
      queryKey={[project.project_id, "model_upstream"]}
      at={path`/projects/${project.project_id}/model-upstreams`}
      about="The upstreams that run the models of this project's agents: services such as OpenAI, or your own. svc calls them, and keeps their keys from the agents."
      empty="Neither the project nor the server has a model upstream."
      mayManage={useMayManage(project) === true}
    />
  );
}
