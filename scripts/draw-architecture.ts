// Draws the import graphs of the packages and of the folders of core into docs/architecture.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARCHITECTURE_PAGE, readTree, treeRoot, withGraphs } from '@postrider/testing/house-rules';

const page = join(treeRoot, ARCHITECTURE_PAGE);
writeFileSync(page, withGraphs(readFileSync(page, 'utf8'), readTree()));
