// Draws the import graphs of the packages and of core's folders into docs/packages.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GRAPH_PAGE, readTree, treeRoot, withGraphs } from '@postrider/testing/house-rules';

const page = join(treeRoot, GRAPH_PAGE);
writeFileSync(page, withGraphs(readFileSync(page, 'utf8'), readTree()));
