/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph.h"

#include <algorithm>
#include <map>

#include "memory.h"
#include "queue.h"
#include "tests/simcuda/settings.h"

namespace simcuda {

GraphNode *
graph_add (Graph *graph, CUgraphNodeType type, const char *name,
    const std::vector<GraphNode *> &after, std::function<CUresult ()> run)
{
  graph->nodes.push_back (std::make_unique<GraphNode> ());
  GraphNode *node = graph->nodes.back ().get ();
  node->type = type;
  node->name = name;
  node->after = after;
  node->run = std::move (run);
  return node;
}

void
graph_set_launch (GraphNode *node, Function *function, const Launch &launch)
{
  node->function = function;
  node->launch = launch;
  node->parameters.clear ();
  for (const Parameter &parameter : launch.kernel->parameters)
    node->parameters.push_back (node->launch.parameters.data () + parameter.offset);
}

std::unique_ptr<GraphExec>
graph_instantiate (const Graph &graph)
{
  auto exec = std::make_unique<GraphExec> ();
  std::map<const GraphNode *, GraphNode *> copies;
  for (const auto &original : graph.nodes) {
    std::vector<GraphNode *> after;
    for (GraphNode *other : original->after)
      after.push_back (copies.at (other));
    GraphNode *copy =
        graph_add (&exec->graph, original->type, original->name.c_str (), after, original->run);
    if (original->function)
      graph_set_launch (copy, original->function, original->launch);
    copies[original.get ()] = copy;
    exec->originals.push_back (original.get ());
  }
  return exec;
}

GraphNode *
graph_find (GraphExec *exec, const GraphNode *original)
{
  auto found = std::find (exec->originals.begin (), exec->originals.end (), original);
  return found == exec->originals.end ()
             ? nullptr
             : exec->graph.nodes[size_t (found - exec->originals.begin ())].get ();
}

std::function<CUresult ()>
launch_work (const Launch &launch)
{
  auto copy = std::make_shared<Launch> (launch);
  return [copy] {
    {
      std::lock_guard<std::mutex> lock (driver_lock);
      hide_memory_of_others (copy->context);
    }
    std::string failure = run_launch (*copy);
    {
      std::lock_guard<std::mutex> lock (driver_lock);
      show_hidden_memory ();
    }
    if (failure.empty ())
      return CUDA_SUCCESS;
    complain ("kernel %s: %s", copy->kernel->name, failure.c_str ());
    return CUDA_ERROR_LAUNCH_FAILED;
  };
}

std::function<CUresult ()>
graph_work (const GraphExec &exec)
{
  struct Step {
    std::function<CUresult ()> run;
    std::vector<size_t> after;
  };
  auto steps = std::make_shared<std::vector<Step>> ();
  std::map<const GraphNode *, size_t> numbers;
  for (const auto &node : exec.graph.nodes) {
    Step step;
    step.run = node->function ? launch_work (node->launch) : node->run;
    for (const GraphNode *other : node->after)
      step.after.push_back (numbers.at (other));
    numbers[node.get ()] = steps->size ();
    steps->push_back (std::move (step));
  }
  return [steps] {
    static Random random (settings ().seed);
    std::vector<bool> done (steps->size ());
    for (size_t n_done = 0; n_done < steps->size (); n_done++) {
      std::vector<size_t> choices;
      for (size_t i = 0; i < steps->size (); i++) {
        const Step &step = (*steps)[i];
        if (!done[i] && std::all_of (step.after.begin (), step.after.end (),
                            [&] (size_t other) { return done[other]; }))
          choices.push_back (i);
      }
      size_t i = choices[settings ().seed ? random.below (uint32_t (choices.size ())) : 0];
      CUresult result = (*steps)[i].run ? (*steps)[i].run () : CUDA_SUCCESS;
      if (result != CUDA_SUCCESS)
        return result;
      done[i] = true;
    }
    return CUDA_SUCCESS;
  };
}

} /* namespace simcuda */
