import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { need } from './install.ts';
import type { Say } from './part.ts';
import { run } from './processes.ts';

const POM = path.join(import.meta.dirname, 'pom.xml');
const OTHERWISE = 'start a Docker daemon, or set COUNTERSIGN_KAFKA_BROKERS to brokers of your own';

/**
 * Folder with the broker's jars; from Maven Central on first use, then from the user's cache.
 * @throws Error that names the remedy when Maven or the network is missing
 */
export async function kafkaJars(say: Say): Promise<string> {
  const folder = path.join(cacheFolder(), `kafka-${kafkaVersion()}`);
  if (existsSync(folder)) return folder;
  // Maven needs some Java; ask for ours first, so that apt does not choose a larger one
  await javaProgram(say);
  const maven = await need({ program: 'mvn', packages: ['maven'], otherwise: OTHERWISE }, say);
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    say(`Fetching Kafka ${kafkaVersion()} from Maven Central (45 MB, once) into ${folder}`);
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const args = ['-q', '-B', '-f', POM, goal, `-DoutputDirectory=${partial}`, '-DincludeScope=runtime'];
    const { code, output } = await run(maven, args);
    if (code !== 0) {
      const why = output.split('\n').slice(0, 4).join(' | ');
      throw new Error(
        `Maven could not fetch the Kafka jars. Check the network (Maven Central), or ${OTHERWISE}. It said: ${why}`,
      );
    }
    keep(partial, folder);
    return folder;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** @throws Error that names the remedy */
export async function javaProgram(say: Say): Promise<string> {
  const home = process.env.JAVA_HOME;
  const own = home ? path.join(home, 'bin', 'java') : undefined;
  if (own && existsSync(own)) return own;
  return need({ program: 'java', packages: ['default-jre-headless'], otherwise: OTHERWISE }, say);
}

function keep(partial: string, folder: string): void {
  try {
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else another process was first
  }
}

function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache');
  return path.join(base, 'countersign');
}

function kafkaVersion(): string {
  const version = /<kafka\.version>(.+?)<\/kafka\.version>/.exec(readFileSync(POM, 'utf8'))?.[1];
  if (!version) throw new Error(`${POM} names no kafka.version`);
  return version;
}
