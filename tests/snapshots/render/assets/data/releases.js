(self.graphBreaks ??= {})["data/releases"] = {
"releases":[{"torch":"2.8.0","built":""},{"torch":"2.9.0","built":""}],
"choices":["2.9.0"],
"devices":{"cpu":["2.9.0"]},
"groups":{"added":"Added","dropped":"Dropped from the registry","reworded":"Reworded","meaning":"Changed meaning","retired":"No longer emitted","emitted":"Emitted now, not before"},
"run_groups":{"started":"Started breaking","stopped":"Stopped breaking","other":"Another id in one of the two","gained":"Gained a working fix","lost":"Lost a working fix","failed":"Failed to run in one of the two"},
"verdicts":{"verified":"breaks, and a fix works","reproduced":"breaks","stopped":"compiles without a break","other id":"gives another id","failed":"the program fails","not applicable":"can't run there","not run":"not run"},
"ids":{
"GB0001":{"titles":["new `type`","old type"],"wording":[1,0],"live":"11","meaning":[],"programs":[{"title":"","runs":{"cpu":"60"},"fixes":{"cpu":[0,1]},"instead":{}}]},
"GB0002":{"titles":["bare"],"wording":[-1,0],"live":"01","meaning":[],"programs":[]},
"GB0003":{"titles":["retired"],"wording":[0,0],"live":"10","meaning":[],"programs":[]},
"GB0004":{"titles":["dropped"],"wording":[-1,-1],"live":"00","meaning":[],"programs":[]}
}
};
