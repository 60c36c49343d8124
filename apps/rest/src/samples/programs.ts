import { literal } from './literals.ts';
import { sdkCall } from './sdk-call.ts';

/** A request of the API, as its samples show it. */
export interface SampleRequest {
  readonly operation_id: string;
  readonly tag: string;
  readonly method: string;
  /** With example values in the place of {…}. */
  readonly path: string;
  readonly path_values: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** Undefined if the request has no body. */
  readonly body: unknown;
}

/** A program in one language, in the form of the x-codeSamples extension. */
export interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** Returns a program for the request in each language. They need POSTRIDER_API_KEY in the environment. */
export function samplesOf(request: SampleRequest, base_url: string): Sample[] {
  const query = new URLSearchParams(request.query).toString();
  const url = `${base_url}${request.path}${query === '' ? '' : `?${query}`}`;
  return [
    { lang: 'sh', label: 'curl', source: curl(request, url) },
    { lang: 'ts', label: 'TypeScript', source: typescript(request) },
    { lang: 'python', label: 'Python', source: python(request, url) },
    { lang: 'go', label: 'Go', source: go(request, url) },
    { lang: 'php', label: 'PHP', source: php(request, url) },
  ];
}

function curl({ method, body }: SampleRequest, url: string): string {
  const usual = body === undefined ? 'GET' : 'POST';
  const json = body === undefined ? '' : literal('json', body).replaceAll("'", "'\\''");
  return [
    `curl ${method === usual ? '' : `-X ${method} `}${url.includes('?') ? `'${url}'` : url}`,
    '-H "Authorization: Bearer $POSTRIDER_API_KEY"',
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${json}'`]),
  ].join(' \\\n  ');
}

function typescript(request: SampleRequest): string {
  const { path_values, query, body } = request;
  const values = [
    ...path_values,
    ...(body === undefined ? [] : [body]),
    ...(Object.keys(query).length === 0 ? [] : [typed(query)]),
  ];
  return `import { Postrider } from '@postrider/sdk';

const postrider = new Postrider();
const response = await ${sdkCall(request)}(${values.map((value) => literal('ts', value)).join(', ')});
console.log(response);`;
}

/** The client takes numbers as such. */
function typed(query: Readonly<Record<string, string>>): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );
}

function python({ method, body }: SampleRequest, url: string): string {
  const headers = [
    '"Authorization": "Bearer " + os.environ["POSTRIDER_API_KEY"],',
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
  ];
  return `import json
import os
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    method="${method}",
    headers={
${headers.map((line) => `        ${line}`).join('\n')}
    },${body === undefined ? '' : `\n    data=json.dumps(${literal('python', body, '    ')}).encode(),`}
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

function go({ method, body }: SampleRequest, url: string): string {
  const packages = ['fmt', 'io', 'log', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])];
  const json = body === undefined ? 'nil' : 'body';
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
${body === undefined ? '' : `\tbody := strings.NewReader(\`${literal('json', body, '\t')}\`)\n`}\trequest, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${json})
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("POSTRIDER_API_KEY"))
${body === undefined ? '' : '\trequest.Header.Set("Content-Type", "application/json")\n'}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, string(text))
}`;
}

function php({ method, body }: SampleRequest, url: string): string {
  const headers = [
    "'Authorization: Bearer ' . getenv('POSTRIDER_API_KEY'),",
    ...(body === undefined ? [] : ["'Content-Type: application/json',"]),
  ];
  return `<?php
$context = stream_context_create(['http' => [
    'method' => '${method}',
    'ignore_errors' => true,
    'header' => [
${headers.map((line) => `        ${line}`).join('\n')}
    ],${body === undefined ? '' : `\n    'content' => json_encode(${literal('php', body, '    ')}),`}
]]);
$response = file_get_contents(${literal('php', url)}, false, $context);
print_r(json_decode($response, true));`;
}
