// Runs a model that was compiled ahead of time, and the same model in libtorch's C++ API. No Python is involved.
//
//   run_model MODEL.pt2 FOLDER BATCH...
//
// FOLDER has what Python saved: weights.pt, and for each batch input-BATCH.pt and output-BATCH.pt. Prints a line per
// batch: the batch, the largest difference to Python's output of both, and the microseconds of a call of both. All of it
// is on the GPU if there is one: there the package must have been compiled for it.

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

c10::IValue read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": can't be read; run examples/11_ahead_of_time.py, which writes it");
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return torch::pickle_load(bytes);
}

// The model as somebody would write it in C++. Its weights are those of the Python model.
struct Model : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};

  explicit Model(const c10::impl::GenericDict& weights) {
    const auto tensor = [&](const char* name) { return weights.at(name).toTensor(); };
    const auto shape = tensor("first.weight").sizes();
    first = register_module("first", torch::nn::Linear(shape[1], shape[0]));
    second = register_module("second", torch::nn::Linear(shape[0], tensor("second.weight").size(0)));
    for (auto& parameter : named_parameters()) parameter.value().data().copy_(tensor(parameter.key().c_str()));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto hidden = first(x);
    return second(hidden * torch::sigmoid(hidden) + torch::tanh(hidden) * 0.5);
  }
};

template <typename Call>
double microseconds(Call call) {
  using clock = std::chrono::steady_clock;
  std::vector<double> rounds;
  for (int round = 0; round < 7; ++round) {
    const auto start = clock::now();
    for (int i = 0; i < 50; ++i) call();
    if (torch::cuda::is_available()) torch::cuda::synchronize();
    rounds.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count() / 50);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

double difference(const torch::Tensor& one, const torch::Tensor& other) {
  return (one - other).abs().max().item<double>();
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) {
    std::cerr << "usage: run_model MODEL.pt2 FOLDER BATCH...\n";
    return 2;
  }
  const c10::InferenceMode no_gradients;
  torch::set_num_threads(1);
  torch::inductor::AOTIModelPackageLoader compiled(words[0]);
  const auto device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  Model eager(read(words[1] + "/weights.pt").toGenericDict());
  eager.to(device);
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto x = read(words[1] + "/input-" + words[i] + ".pt").toTensor().to(device);
    const auto expected = read(words[1] + "/output-" + words[i] + ".pt").toTensor().to(device);
    std::vector<torch::Tensor> inputs{x};
    std::cout << words[i] << ' ' << difference(compiled.run(inputs).at(0), expected) << ' '
              << difference(eager.forward(x), expected) << ' ' << microseconds([&] { compiled.run(inputs); }) << ' '
              << microseconds([&] { eager.forward(x); }) << '\n';
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << std::string(error.what()).substr(0, 500) << '\n';
    return 2;
  }
}
