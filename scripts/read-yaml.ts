import { execFileSync } from 'node:child_process';

const TO_JSON = 'import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)';

/** Returns the documents of a YAML text, read by Debian's python3-yaml. */
export function readYaml(text: string): unknown[] {
  return JSON.parse(execFileSync('python3', ['-c', TO_JSON], { input: text, encoding: 'utf8' })) as unknown[];
}
