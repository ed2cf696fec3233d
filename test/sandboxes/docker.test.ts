import { createDockerProvider } from "../../src/sandboxes/docker/docker.ts";
import { DOCKER, leftoversOf } from "../helpers/docker-engine.ts";
import { conformance } from "./conformance.ts";

conformance({
  name: "docker",
  requires: DOCKER,
  make: async (options) => createDockerProvider(options),
  leftovers: leftoversOf,
  isolates: true,
});
