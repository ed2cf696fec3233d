import { Readable } from "node:stream";
import type { Container } from "dockerode";
import { type Pack, pack } from "tar-stream";
import { entriesOf, streamOf, textOf } from "../../tar.ts";
import { type Engine, EngineError } from "../engine.ts";
import { LABEL, type Labels } from "../names.ts";
import { removeContainer } from "../run-to-end.ts";

/** Half a gigabyte is copied and written as a layer. */
const COPY_LONGEST_MS = 30 * 60_000;
const FILE_MAX_BYTES = 1024 * 1024;

/** The files of an image. */
export interface Files {
  has(path: string): Promise<boolean>;
  /** The text of a small file; empty when there is none. */
  read(path: string): Promise<string>;
}

/** What a layer adds. */
export interface Layer {
  /** Labels of the new image. */
  labels: Labels;
  write(tar: Pack): Promise<void>;
}

/**
 * Adds a layer to an image. Nothing in the image runs: the engine reads and writes its files.
 * @param make decides on the layer by the files of the image
 * @throws SandboxError; what `make` throws; the signal's reason
 */
export async function addLayer(
  engine: Engine,
  { base, tag, labels }: { base: string; tag: string; labels: Labels },
  make: (files: Files) => Promise<Layer>,
  signal: AbortSignal,
): Promise<void> {
  const container = await engine.call("open an image", (docker, abortSignal) =>
    docker.createContainer({
      Image: base,
      User: "0:0",
      WorkingDir: "/",
      Entrypoint: ["/usr/local/bin/svc-entrypoint"],
      Cmd: [],
      Healthcheck: { Test: ["NONE"] },
      StopSignal: "SIGTERM",
      Labels: { ...labels, [LABEL.role]: "scratch", [LABEL.session]: "" },
      HostConfig: { NetworkMode: "none" },
      abortSignal,
    }),
  );
  try {
    const layer = await make(filesOf(engine, container));
    const tar = pack();
    const limits = { longestMs: COPY_LONGEST_MS, signal };
    const writing = layer
      .write(tar)
      .then(() => tar.finalize())
      .catch((error: Error) => tar.destroy(error));
    await engine.call(
      "add svc to an image",
      (_, abortSignal) => container.putArchive(streamOf(tar), { path: "/", abortSignal }),
      limits,
    );
    await writing;
    const [repo = "", version = ""] = tag.split(":");
    const pairs = Object.entries({ [LABEL.image]: "sandbox", ...layer.labels });
    // Podman reads one label of an instruction
    const changes = pairs.map(([name, value]) => `LABEL ${name}=${value}`);
    await engine.call(
      "commit an image",
      (_, abortSignal) => container.commit({ repo, tag: version, changes, abortSignal }),
      limits,
    );
  } finally {
    await removeContainer(engine, container.id);
  }
}

function filesOf(engine: Engine, container: Container): Files {
  return {
    async has(path) {
      try {
        await engine.call("read a file of an image", (_, abortSignal) =>
          container.infoArchive({ path, abortSignal }),
        );
        return true;
      } catch (error) {
        if (error instanceof EngineError && error.status === 404) return false;
        throw error;
      }
    },
    async read(path) {
      try {
        return await engine.call("read a file of an image", async (_, abortSignal) =>
          firstFileOf(await container.getArchive({ path, abortSignal })),
        );
      } catch (error) {
        if (error instanceof EngineError && error.status === 404) return "";
        throw error;
      }
    },
  };
}

async function firstFileOf(archive: NodeJS.ReadableStream): Promise<string> {
  for await (const { header, pieces } of entriesOf(Readable.from(archive))) {
    return header.type === "file" ? ((await textOf(pieces, FILE_MAX_BYTES)) ?? "") : "";
  }
  return "";
}
