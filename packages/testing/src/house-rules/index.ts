export { type HouseRuleName, houseRules } from '../house-rules.ts';
export { GRAPH_PAGE, withGraphs } from './architecture-graph.ts';
export { covers, NOTICES, readNotices } from './notices.ts';
export { type HouseRule, readTree, type TreeFile, treeRoot } from './tree.ts';
