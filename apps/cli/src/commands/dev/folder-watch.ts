import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** What a workspace is read from. */
const FOLDERS = ['tools', 'policies', 'agents'];
const LOOK_MS = 250;

/** File → what tells one content from another. */
type Picture = ReadonlyMap<string, string>;

/**
 * Watches a workspace by looking at it: the same on every file system, in containers and on network mounts.
 * A change is told once it is complete: two looks in a row saw the same.
 */
export class FolderWatch {
  readonly #root: string;
  #known: Picture = new Map();

  constructor(root: string) {
    this.#root = path.resolve(root);
  }

  /** What is there now counts as known. */
  async begin(): Promise<void> {
    this.#known = await this.#look();
  }

  /** Resolves with the files that changed since the last time; with none when the signal aborts. */
  async changed(signal: AbortSignal): Promise<string[]> {
    for (let before = this.#known; ;) {
      try {
        await delay(LOOK_MS, undefined, { signal });
      } catch {
        return [];
      }
      const now = await this.#look();
      const settled = differences(before, now).length === 0;
      const changed = differences(this.#known, now);
      before = now;
      if (!settled || changed.length === 0) continue;
      this.#known = now;
      return changed;
    }
  }

  async #look(): Promise<Picture> {
    const picture = new Map<string, string>();
    for (const folder of FOLDERS) {
      const names = await readdir(path.join(this.#root, folder)).catch(() => []);
      for (const name of names) {
        const found = await stat(path.join(this.#root, folder, name)).catch(() => null);
        picture.set(`${folder}/${name}`, found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'gone');
      }
    }
    return picture;
  }
}

const differences = (before: Picture, now: Picture): string[] =>
  [...new Set([...before.keys(), ...now.keys()])].filter((file) => before.get(file) !== now.get(file)).sort();
