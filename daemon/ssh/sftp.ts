import type { Dirent, Stats } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { resolve } from "node:path";
import ssh2, { type FileEntry, type SFTPWrapper } from "ssh2";
import {
  change,
  entryOf,
  flagsOf,
  longName,
  modeOf,
  NO_ATTRIBUTES,
  statusOf,
  toAttributes,
} from "./sftp-attributes.ts";

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

declare module "ssh2" {
  /** What it has no method for: without an exit status, scp reports a failure. */
  interface SFTPWrapper {
    readonly outgoing: { readonly id: number };
    readonly _protocol: { exitStatus(channel: number, status: number): void };
  }
}

/** Open files and folders of one client. */
const HANDLES_MAX = 256;
/** The most bytes of one answer; clients ask for 32 to 256 KiB. */
const READ_MAX = 256 * 1024;
/** Entries of a folder in one answer. */
const ENTRIES_MAX = 100;
/** Requests that wait: clients send 64 ahead. */
const REQUESTS_MAX = 1024;
const HANDLE_BYTES = 4;

/**
 * Serves SFTP, version 3 (draft-ietf-secsh-filexfer-02), which `scp` and editors use: with the rights of this process, as a
 * shell has them. Relative paths begin in the working directory.
 */
export function serveSftp(sftp: SFTPWrapper): void {
  const handles = new Handles();
  const requests = new Requests(sftp);
  serveFiles(sftp, requests, handles);
  serveFolders(sftp, requests, handles);
  servePaths(sftp, requests);
  sftp.on("end", () => requests.end());
  sftp.on("close", () => handles.closeAll());
}

/**
 * Answers one request after the other, as OpenSSH's server does: its client truncates files whose pieces arrive in another order.
 */
class Requests {
  readonly #sftp: SFTPWrapper;
  #waiting = 0;
  #last = Promise.resolve();

  constructor(sftp: SFTPWrapper) {
    this.#sftp = sftp;
  }

  /** Answers a request with what `work` sends, or with the status of its error. */
  answer(id: number, work: () => Promise<void>): void {
    if (++this.#waiting > REQUESTS_MAX) {
      this.#sftp.end();
      return;
    }
    this.#last = this.#last.then(work).catch((error: unknown) => this.#sftp.status(id, statusOf(error)));
    void this.#last.then(() => this.#waiting--);
  }

  /** Answers a request with success, or with the status of its error. */
  done(id: number, work: () => Promise<unknown>): void {
    this.answer(id, async () => {
      await work();
      this.#sftp.status(id, STATUS_CODE.OK);
    });
  }

  end(): void {
    void this.#last.then(() => {
      this.#sftp._protocol.exitStatus(this.#sftp.outgoing.id, 0);
      this.#sftp.end();
    });
  }
}

type File = { kind: "file"; file: FileHandle; appends: boolean };
type Folder = { kind: "folder"; path: string; entries: AsyncIterator<Dirent> };

/** The open files and folders. */
class Handles {
  readonly #opened = new Map<number, File | Folder>();
  #count = 0;

  /** @throws if too many are open */
  requireRoom(): void {
    if (this.#opened.size >= HANDLES_MAX) throw new Error("too many open files");
  }

  add(opened: File | Folder): Buffer {
    this.#count = (this.#count + 1) >>> 0;
    this.#opened.set(this.#count, opened);
    const handle = Buffer.alloc(HANDLE_BYTES);
    handle.writeUInt32BE(this.#count);
    return handle;
  }

  file(handle: Buffer): File {
    const found = this.#find(handle);
    if (found.kind !== "file") throw new Error("not a file");
    return found;
  }

  folder(handle: Buffer): Folder {
    const found = this.#find(handle);
    if (found.kind !== "folder") throw new Error("not a folder");
    return found;
  }

  async close(handle: Buffer): Promise<void> {
    const opened = this.#find(handle);
    this.#opened.delete(handle.readUInt32BE());
    await close(opened);
  }

  closeAll(): void {
    for (const opened of this.#opened.values()) void close(opened).catch(() => {});
    this.#opened.clear();
  }

  #find(handle: Buffer): File | Folder {
    const found = handle.length === HANDLE_BYTES ? this.#opened.get(handle.readUInt32BE()) : undefined;
    if (!found) throw new Error("not an open file or folder");
    return found;
  }
}

function serveFiles(sftp: SFTPWrapper, requests: Requests, handles: Handles): void {
  sftp.on("OPEN", (id, path, flags, attributes) =>
    requests.answer(id, async () => {
      handles.requireRoom();
      const file = await open(resolve(path), flagsOf(flags), modeOf(attributes) ?? 0o666);
      sftp.handle(id, handles.add({ kind: "file", file, appends: (flags & OPEN_MODE.APPEND) !== 0 }));
    }),
  );
  sftp.on("READ", (id, handle, offset, length) =>
    requests.answer(id, async () => {
      const bytes = Buffer.alloc(Math.min(length, READ_MAX));
      const { bytesRead } = await handles.file(handle).file.read(bytes, 0, bytes.length, offset);
      if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, bytes.subarray(0, bytesRead));
    }),
  );
  sftp.on("WRITE", (id, handle, offset, data) => {
    // its buffer is used again for the next packet
    const bytes = Buffer.from(data);
    requests.done(id, async () => {
      const { file, appends } = handles.file(handle);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.length - at, appends ? null : offset + at);
        at += bytesWritten;
      }
    });
  });
  sftp.on("CLOSE", (id, handle) => requests.done(id, () => handles.close(handle)));
  sftp.on("FSTAT", (id, handle) =>
    requests.answer(id, async () => sftp.attrs(id, toAttributes(await handles.file(handle).file.stat()))),
  );
  sftp.on("FSETSTAT", (id, handle, attributes) =>
    requests.done(id, async () => change(handles.file(handle).file, attributes)),
  );
}

function serveFolders(sftp: SFTPWrapper, requests: Requests, handles: Handles): void {
  sftp.on("OPENDIR", (id, path) =>
    requests.answer(id, async () => {
      handles.requireRoom();
      const folder = await opendir(resolve(path));
      const entries = folder[Symbol.asyncIterator]();
      sftp.handle(id, handles.add({ kind: "folder", path: resolve(path), entries }));
    }),
  );
  sftp.on("READDIR", (id, handle) =>
    requests.answer(id, async () => {
      const entries = await nextEntries(handles.folder(handle));
      if (entries.length === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.name(id, entries);
    }),
  );
  sftp.on("MKDIR", (id, path, attributes) =>
    requests.done(id, () => mkdir(resolve(path), { mode: modeOf(attributes) ?? 0o777 })),
  );
  sftp.on("RMDIR", (id, path) => requests.done(id, () => rmdir(resolve(path))));
}

function servePaths(sftp: SFTPWrapper, requests: Requests): void {
  const attributes = (id: number, read: () => Promise<Stats>) =>
    requests.answer(id, async () => sftp.attrs(id, toAttributes(await read())));
  sftp.on("STAT", (id, path) => attributes(id, () => stat(resolve(path))));
  sftp.on("LSTAT", (id, path) => attributes(id, () => lstat(resolve(path))));
  sftp.on("SETSTAT", (id, path, wanted) => requests.done(id, () => change(resolve(path), wanted)));
  sftp.on("REMOVE", (id, path) => requests.done(id, () => unlink(resolve(path))));
  sftp.on("RENAME", (id, from, to) =>
    requests.done(id, async () => {
      // version 3 replaces nothing
      if (await lstat(resolve(to)).catch(() => null)) throw new Error("it exists");
      await rename(resolve(from), resolve(to));
    }),
  );
  // the types have the two names the wrong way round
  sftp.on("SYMLINK", (id, path, target) => requests.done(id, () => symlink(target, resolve(path))));
  const name = (id: number, read: () => Promise<string>) =>
    requests.answer(id, async () => sftp.name(id, [entryOf(await read(), NO_ATTRIBUTES)]));
  sftp.on("READLINK", (id, path) => name(id, () => readlink(resolve(path))));
  // also the name of a file that is not there yet
  sftp.on("REALPATH", (id, path) => name(id, () => realpath(resolve(path)).catch(() => resolve(path))));
}

async function close(opened: File | Folder): Promise<void> {
  if (opened.kind === "file") await opened.file.close();
  else await opened.entries.return?.();
}

async function nextEntries({ path, entries }: Folder): Promise<FileEntry[]> {
  const found: FileEntry[] = [];
  while (found.length < ENTRIES_MAX) {
    const next = await entries.next();
    if (next.done) break;
    const { name } = next.value;
    const stats = await lstat(resolve(path, name)).catch(() => null);
    // null: it has been removed meanwhile
    if (stats) found.push(entryOf(name, toAttributes(stats), longName(name, stats)));
  }
  return found;
}
