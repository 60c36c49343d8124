import { readFileSync } from 'node:fs';
import { createMetrics, metricCatalogue, metricDefinition } from '@postrider/core';
import { alarmNames } from '@postrider/core/alarms';
import { beforeAll, expect, it } from 'vitest';
import { createExposition } from '../src/telemetry/prometheus.ts';

const fileOf = (name: string) => readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');
const files = ['grafana/postrider.json', 'prometheus/alerts.yml', 'prometheus/alerts.test.yml'];
const SUFFIX = /_(?:bucket|sum|count)$/;

let exposed: Set<string>;
beforeAll(async () => {
  const text = await createExposition({ role: 'all', instance: 'here:3000' })(createMetrics().read());
  exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
});

it.each(files)('every metric in deploy/%s is exposed by a process', (name) => {
  const names = new Set([...fileOf(name).matchAll(/\bpostrider_\w+/g)].map(([metric]) => metric));

  const unknown = [...names].filter((metric) => !exposed.has(metric) && !exposed.has(metric.replace(SUFFIX, '')));

  expect(names.size).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});

it('the board uses every metric', () => {
  const board = fileOf('grafana/postrider.json');

  const unseen = Object.keys(metricCatalogue).filter((name) => !board.includes(`postrider_${name}`));

  expect(unseen).toEqual([]);
});

it.each(files)('labels used in deploy/%s exist on their metric', (name) => {
  const wrong: string[] = [];
  for (const [, metric = '', labels = ''] of fileOf(name).matchAll(/\bpostrider_(\w+)\{([^}]*)\}/g)) {
    const known = Object.keys(metricCatalogue).find((one) => one === metric || one === metric.replace(SUFFIX, ''));
    const allowed = known ? metricDefinition(known as keyof typeof metricCatalogue).labels : [];
    for (const [, label = ''] of labels.matchAll(/(\w+)(?:=~|!=|!~|=)/g)) {
      if (![...allowed, 'le', 'role', 'instance'].includes(label)) wrong.push(`${metric} has no label ${label}`);
    }
  }

  expect(wrong).toEqual([]);
});

it('every alert has a test', () => {
  const alerts = [...fileOf('prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert);
  const tested = [...fileOf('prometheus/alerts.test.yml').matchAll(/^ {4}name: (\w+)$/gm)].map(([, alert]) => alert);

  expect(tested).toEqual(alerts);
});

it('every rule and alarm has a documentation section with instructions', () => {
  const page = readFileSync(new URL('../../../docs/alarms.md', import.meta.url), 'utf8');
  const sections = new Set([...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name));
  const runbooks = [...fileOf('prometheus/alerts.yml').matchAll(/runbook: docs\/alarms\.md#(\w+)/g)];

  const names = [...runbooks.map(([, name = '']) => name), ...alarmNames];

  expect(runbooks.length).toBe(fileOf('prometheus/alerts.yml').match(/- alert: /g)?.length);
  expect(names.filter((name) => !sections.has(name))).toEqual([]);
  expect([...sections].sort()).toEqual([...new Set(names)].sort());
});
